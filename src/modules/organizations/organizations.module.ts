import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { OrganizationEntity } from './organization.entity.js';
import { OrganizationsQuery } from './organizations.query.js';
import { PersonalKeySource } from './personal-key.source.js';
import { RootKeySource } from './root-key.source.js';
import { StopStore } from './stop.store.js';
import { StopsQuery } from './stops.query.js';

@Module({
  imports: [TypeOrmModule.forFeature([OrganizationEntity])],
  providers: [OrganizationsQuery, RootKeySource, PersonalKeySource, StopStore, StopsQuery],
  exports: [OrganizationsQuery, StopStore, StopsQuery],
})
export class OrganizationsModule {}
