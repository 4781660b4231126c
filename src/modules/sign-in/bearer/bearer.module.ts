import { Module } from '@nestjs/common';
import { OrganizationsModule } from '../../organizations/organizations.module.js';
import { SignInSeamsModule } from '../seams/seams.module.js';

/** Tokens of the identity provider as credentials of their own. */
@Module({ imports: [OrganizationsModule, SignInSeamsModule] })
export class BearerModule {}
