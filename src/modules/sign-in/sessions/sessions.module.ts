import { Module } from '@nestjs/common';
import { OrganizationsModule } from '../../organizations/organizations.module.js';

/** Sessions of people: how they begin, are shown, listed and end. */
@Module({ imports: [OrganizationsModule] })
export class SessionsModule {}
