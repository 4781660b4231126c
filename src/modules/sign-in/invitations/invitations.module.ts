import { Module } from '@nestjs/common';
import { OrganizationsModule } from '../../organizations/organizations.module.js';

/** Invitations: how somebody comes to an account without a provider. */
@Module({ imports: [OrganizationsModule] })
export class InvitationsModule {}
