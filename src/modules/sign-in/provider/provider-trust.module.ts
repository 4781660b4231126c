import { Module } from '@nestjs/common';
import { OrganizationsModule } from '../../organizations/organizations.module.js';
import { RedeemingModule } from '../invitations/redeeming.module.js';
import { ProviderAccounts } from '../seams/provider-accounts.js';
import { ProviderClient } from '../seams/provider-client.js';
import { SignInSeamsModule } from '../seams/seams.module.js';
import { IdentityStore } from './identity.store.js';
import { InvitedByAddress } from './invited-by-address.js';
import { LinkedAccounts } from './linked-accounts.js';
import { NewProviderAccounts } from './new-provider-accounts.js';
import { OpenidProviderClient } from './openid-provider-client.js';
import { ProviderFetch } from './provider-fetch.js';
import { ProviderKeys } from './provider-keys.js';
import { ProviderMetadata } from './provider-metadata.js';
import { ProviderPeopleQuery } from './provider-people.query.js';
import { ProviderTokens } from './provider-tokens.js';

/** What is believed of the identity provider, and whose account its users have. */
@Module({
  imports: [OrganizationsModule, SignInSeamsModule, RedeemingModule],
  providers: [
    ProviderFetch, ProviderMetadata, ProviderKeys, ProviderTokens, IdentityStore, ProviderPeopleQuery, InvitedByAddress,
    NewProviderAccounts, { provide: ProviderClient, useClass: OpenidProviderClient },
    { provide: ProviderAccounts, useClass: LinkedAccounts },
  ],
  exports: [ProviderClient, ProviderAccounts, ProviderKeys, ProviderMetadata, IdentityStore],
})
export class ProviderTrustModule {}
