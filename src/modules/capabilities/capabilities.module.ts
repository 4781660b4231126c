import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { OrganizationsModule } from '../organizations/organizations.module.js';
import { CapabilitiesController } from './capabilities.controller.js';
import { CapabilityDefinitionEntity } from './capability-definition.entity.js';
import { DefineCapabilityService } from './define-capability.service.js';
import { DefinitionStore } from './definition.store.js';
import { RecordKeepers } from '../../platform/audit/record-keepers.js';
import { grantRecords } from './grant-records.query.js';
import { GrantEntity } from './grant.entity.js';
import { GrantStore } from './grant.store.js';
import { GrantUsageStore } from './grant-usage.store.js';
import { LimitRoomQuery } from './limit-room.query.js';
import { CapabilitiesPersonalData } from './personal-data.store.js';
import { PrepareDefinitionService } from './prepare-definition.service.js';
import { ChangeSecretService } from './secrets/change-secret.service.js';
import { ConnectorSecrets } from './secrets/connector-secrets.service.js';
import { secretRecords } from './secrets/secret-records.query.js';
import { SecretStore } from './secrets/secret.store.js';
import { SecretsController } from './secrets/secrets.controller.js';

@Module({
  imports: [TypeOrmModule.forFeature([CapabilityDefinitionEntity, GrantEntity]), OrganizationsModule],
  controllers: [CapabilitiesController, SecretsController],
  providers: [
    DefinitionStore, GrantStore, GrantUsageStore, LimitRoomQuery, DefineCapabilityService, PrepareDefinitionService,
    CapabilitiesPersonalData, SecretStore, ConnectorSecrets, ChangeSecretService,
  ],
  exports: [DefinitionStore, GrantStore, GrantUsageStore, LimitRoomQuery, ConnectorSecrets],
})
export class CapabilitiesModule {
  constructor(keepers: RecordKeepers) {
    keepers.register(grantRecords);
    keepers.register(secretRecords);
  }
}
