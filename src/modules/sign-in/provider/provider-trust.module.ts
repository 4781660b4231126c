import { Module } from '@nestjs/common';
import { OrganizationsModule } from '../../organizations/organizations.module.js';
import { ProviderClient } from '../seams/provider-client.js';
import { OpenidProviderClient } from './openid-provider-client.js';
import { ProviderFetch } from './provider-fetch.js';
import { ProviderKeys } from './provider-keys.js';
import { ProviderMetadata } from './provider-metadata.js';
import { ProviderTokens } from './provider-tokens.js';

/** What is believed of the identity provider, and whose account its users have. */
@Module({
  imports: [OrganizationsModule],
  providers: [ProviderFetch, ProviderMetadata, ProviderKeys, ProviderTokens, { provide: ProviderClient, useClass: OpenidProviderClient }],
  exports: [ProviderClient, ProviderKeys, ProviderMetadata],
})
export class ProviderTrustModule {}
