import { Module } from '@nestjs/common';
import { OrganizationsModule } from '../../organizations/organizations.module.js';
import { RedeemingModule } from '../invitations/redeeming.module.js';
import { ProviderAccounts } from '../ports/provider-accounts.js';
import { ProviderClient } from '../ports/provider-client.js';
import { SignInPortsModule } from '../ports/ports.module.js';
import { IdentityStore } from './accounts/identity.store.js';
import { InvitedByAddress } from './accounts/invited-by-address.js';
import { LinkedAccounts } from './accounts/linked-accounts.js';
import { NewProviderAccounts } from './accounts/new-provider-accounts.js';
import { OpenidProviderClient } from './client/openid-provider-client.js';
import { ProviderFetch } from './client/provider-fetch.js';
import { ProviderKeys } from './client/provider-keys.js';
import { ProviderMetadata } from './client/provider-metadata.js';
import { ProviderPeopleQuery } from './accounts/provider-people.query.js';
import { ProviderTokenVerifier } from './client/provider-token-verifier.js';

/** What is believed of the identity provider, and whose account its users have. */
@Module({
  imports: [OrganizationsModule, SignInPortsModule, RedeemingModule],
  providers: [
    ProviderFetch, ProviderMetadata, ProviderKeys, ProviderTokenVerifier, IdentityStore, ProviderPeopleQuery, InvitedByAddress,
    NewProviderAccounts, { provide: ProviderClient, useClass: OpenidProviderClient },
    { provide: ProviderAccounts, useClass: LinkedAccounts },
  ],
  exports: [ProviderClient, ProviderAccounts, ProviderKeys, ProviderMetadata, IdentityStore],
})
export class ProviderTrustModule {}
