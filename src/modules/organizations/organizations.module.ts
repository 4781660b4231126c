import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { OrganizationEntity } from './organization.entity.js';
import { OrganizationsQuery } from './organizations.query.js';
import { RootKeySource } from './root-key.source.js';

@Module({
  imports: [TypeOrmModule.forFeature([OrganizationEntity])],
  providers: [OrganizationsQuery, RootKeySource],
  exports: [OrganizationsQuery],
})
export class OrganizationsModule {}
