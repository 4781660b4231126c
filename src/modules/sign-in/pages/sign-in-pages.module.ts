import { Module } from '@nestjs/common';
import { OrganizationsModule } from '../../organizations/organizations.module.js';
import { SignInSeamsModule } from '../seams/seams.module.js';

/** The pages of signing in, made on the server. */
@Module({ imports: [OrganizationsModule, SignInSeamsModule] })
export class SignInPagesModule {}
