import { Module } from '@nestjs/common';
import { OrganizationsModule } from '../../organizations/organizations.module.js';
import { SignInSeamsModule } from '../seams/seams.module.js';

/** Sign-in through the identity provider: redirect, callback, renewal, and logout at both ends. */
@Module({ imports: [OrganizationsModule, SignInSeamsModule] })
export class ProviderModule {}
