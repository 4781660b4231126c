import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ActiveUsersQuery } from './active-users.query.js';
import { OrganizationEntity } from './organization.entity.js';
import { OrganizationsQuery } from './organizations.query.js';
import { PersonalKeySource } from './personal-key.source.js';
import { RootKeySource } from './root-key.source.js';

@Module({
  imports: [TypeOrmModule.forFeature([OrganizationEntity])],
  providers: [OrganizationsQuery, ActiveUsersQuery, RootKeySource, PersonalKeySource],
  exports: [OrganizationsQuery, ActiveUsersQuery],
})
export class OrganizationsModule {}
