import { Module } from '@nestjs/common';
import { OrganizationsModule } from './organizations.module.js';
import { UsersController } from './users.controller.js';

/** Apart from the module and behind that of signing in: `/users/:id` would take what stands below `/users` for ids. */
@Module({ imports: [OrganizationsModule], controllers: [UsersController] })
export class UserRoutesModule {}
