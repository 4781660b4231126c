import { Module } from '@nestjs/common';
import { OrganizationsModule } from '../../organizations/organizations.module.js';

/** The pages of signing in, made on the server. */
@Module({ imports: [OrganizationsModule] })
export class SignInPagesModule {}
