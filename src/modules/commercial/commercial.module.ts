import { Module } from '@nestjs/common';
import { OrganizationsModule } from '../organizations/organizations.module.js';
import { ProviderTrustModule } from '../sign-in/provider/provider-trust.module.js';
import { ChangeTenantService } from './change-tenant.service.js';
import { InternalKeySource } from './internal-key.source.js';
import { RemoveTenantService } from './remove-tenant.service.js';
import { TenantEntitlements } from './tenant-entitlements.js';
import { TenantUsageService } from './tenant-usage.service.js';
import { TenantsController } from './tenants.controller.js';
import { TenantsQuery } from './tenants.query.js';
import { UsageQuery } from './usage.query.js';
import { VerifyTokenController } from './verify-token.controller.js';
import { VerifyTokenService } from './verify-token.service.js';

/** Tenants, what they have subscribed to, and the key of the platform that sells the service. */
@Module({
  imports: [OrganizationsModule, ProviderTrustModule],
  controllers: [TenantsController, VerifyTokenController],
  providers: [
    InternalKeySource, TenantEntitlements, TenantsQuery, ChangeTenantService, RemoveTenantService, UsageQuery, TenantUsageService,
    VerifyTokenService,
  ],
})
export class CommercialModule {}
