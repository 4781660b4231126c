import { Module } from '@nestjs/common';
import { OrganizationsModule } from '../../organizations/organizations.module.js';
import { SignInSeamsModule } from '../seams/seams.module.js';

/** Invitations: how somebody comes to an account without a provider. */
@Module({ imports: [OrganizationsModule, SignInSeamsModule] })
export class InvitationsModule {}
