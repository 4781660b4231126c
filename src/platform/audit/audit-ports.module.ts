import { Global, Module } from '@nestjs/common';
import { AnchorFreshness } from './anchor-freshness.js';
import { BeforeSigning } from './before-signing.js';
import { EndedRecordKeepers } from './ended-records.js';
import { Hold } from './hold.js';
import { PersonalDataHolders } from './personal-data.js';
import { PersonalRows } from './personal-rows.store.js';
import { PlatformPersonalData } from './platform-personal-data.store.js';
import { ReadinessFacts } from './readiness-facts.js';
import { RecordKeepers } from './record-keepers.js';

const shared = [
  AnchorFreshness, BeforeSigning, EndedRecordKeepers, Hold, PersonalDataHolders, PersonalRows, ReadinessFacts, RecordKeepers,
];

/** Where modules and the audit log meet without knowing each other. */
@Global()
@Module({ providers: [...shared, PlatformPersonalData], exports: shared })
export class AuditPortsModule {}
