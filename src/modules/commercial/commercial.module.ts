import { Module } from '@nestjs/common';
import { OrganizationsModule } from '../organizations/organizations.module.js';
import { SignInModule } from '../sign-in/sign-in.module.js';
import { ChangeTenantService } from './change-tenant.service.js';
import { InternalKeySource } from './internal-key.source.js';
import { RemoveTenantService } from './remove-tenant.service.js';
import { TenantEntitlements } from './tenant-entitlements.js';
import { TenantUsageService } from './tenant-usage.service.js';
import { TenantsController } from './tenants.controller.js';
import { TenantsQuery } from './tenants.query.js';
import { UsageQuery } from './usage.query.js';

/** Tenants, what they have subscribed to, and the key of the platform that sells the service. */
@Module({
  imports: [OrganizationsModule, SignInModule],
  controllers: [TenantsController],
  providers: [
    InternalKeySource, TenantEntitlements, TenantsQuery, ChangeTenantService, RemoveTenantService, UsageQuery, TenantUsageService,
  ],
})
export class CommercialModule {}
