import { Module } from '@nestjs/common';
import { OrganizationsModule } from '../../organizations/organizations.module.js';

/** Tokens of the identity provider as credentials of their own. */
@Module({ imports: [OrganizationsModule] })
export class BearerModule {}
