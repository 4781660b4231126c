import { Module } from '@nestjs/common';
import { OrganizationsModule } from './organizations.module.js';
import { UsersController } from './users/users.controller.js';

/** Apart from the module, for whoever has routes below `/users` imports it behind them: `/users/:id` would take them for ids. */
@Module({ imports: [OrganizationsModule], controllers: [UsersController] })
export class UserRoutesModule {}
