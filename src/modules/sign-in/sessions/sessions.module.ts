import { Module } from '@nestjs/common';
import { OrganizationsModule } from '../../organizations/organizations.module.js';
import { SignInSeamsModule } from '../seams/seams.module.js';

/** Sessions of people: how they begin, are shown, listed and end. */
@Module({ imports: [OrganizationsModule, SignInSeamsModule] })
export class SessionsModule {}
