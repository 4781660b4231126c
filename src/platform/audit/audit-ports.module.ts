import { Global, Module } from '@nestjs/common';
import { AnchorFreshness } from './anchor-freshness.js';
import { EndedRecordKeepers } from './ended-records.js';
import { MaintenanceMode } from './maintenance-mode.js';
import { PersonalDataHolders } from './personal-data/personal-data-holders.js';
import { PersonalRows } from './personal-data/personal-rows.store.js';
import { PlatformPersonalData } from './personal-data/platform-personal-data.store.js';
import { ReadinessFacts } from './readiness-facts.js';
import { RecordKeepers } from './record-keepers.js';

const shared = [
  AnchorFreshness, EndedRecordKeepers, MaintenanceMode, PersonalDataHolders, PersonalRows, ReadinessFacts, RecordKeepers,
];

/** Where modules and the audit log meet without knowing each other. */
@Global()
@Module({ providers: [...shared, PlatformPersonalData], exports: shared })
export class AuditPortsModule {}
