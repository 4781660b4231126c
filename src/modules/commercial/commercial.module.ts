import { Module } from '@nestjs/common';
import { OrganizationsModule } from '../organizations/organizations.module.js';
import { SignInModule } from '../sign-in/sign-in.module.js';

/** Tenants, what they have subscribed to, and the key of the platform that sells the service. */
@Module({ imports: [OrganizationsModule, SignInModule] })
export class CommercialModule {}
