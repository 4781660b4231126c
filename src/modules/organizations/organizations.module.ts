import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AccountEnds } from './users/account-ends.js';
import { ActiveUsersQuery } from './users/active-users.query.js';
import { ChangeOrganizationService } from './change-organization.service.js';
import { ChangeUserService } from './users/change-user.service.js';
import { CloseAccount } from './users/close-account.js';
import { EraseAccount } from './users/erase-account.js';
import { MakeAccount } from './users/make-account.js';
import { MakeOrganization } from './make-organization.js';
import { OrganizationEntity } from './organization.entity.js';
import { OrganizationStore } from './organization.store.js';
import { OrganizationsController } from './organizations.controller.js';
import { OrganizationsQuery } from './organizations.query.js';
import { OrganizationsPersonalData } from './personal-data.store.js';
import { PersonalKeyEntity } from './personal-keys/personal-key.entity.js';
import { PersonalKeyStore } from './personal-keys/personal-key.store.js';
import { PersonalKeysController } from './personal-keys/personal-keys.controller.js';
import { PersonalKeysQuery } from './personal-keys/personal-keys.query.js';
import { PersonalKeysService } from './personal-keys/personal-keys.service.js';
import { RootKeySource } from './installation/root-key.source.js';
import { StopStore } from './stops/stop.store.js';
import { StopsQuery } from './stops/stops.query.js';
import { TenantStore } from './tenant.store.js';
import { UserEntity } from './users/user.entity.js';
import { UserStore } from './users/user.store.js';
import { UsersQuery } from './users/users.query.js';

@Module({
  imports: [TypeOrmModule.forFeature([OrganizationEntity, UserEntity, PersonalKeyEntity])],
  controllers: [OrganizationsController, PersonalKeysController],
  providers: [
    OrganizationsQuery, ActiveUsersQuery, OrganizationStore, ChangeOrganizationService, UsersQuery, UserStore, ChangeUserService,
    PersonalKeysQuery, PersonalKeyStore, PersonalKeysService, RootKeySource, StopStore,
    StopsQuery, EraseAccount, OrganizationsPersonalData, MakeAccount, CloseAccount, MakeOrganization, AccountEnds,
    TenantStore,
  ],
  exports: [
    OrganizationsQuery, OrganizationStore, ActiveUsersQuery, UsersQuery, UserStore, ChangeUserService, MakeAccount, CloseAccount,
    MakeOrganization, AccountEnds, TenantStore, StopStore, StopsQuery, EraseAccount,
  ],
})
export class OrganizationsModule {}
