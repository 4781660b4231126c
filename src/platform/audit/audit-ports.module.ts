import { Global, Module } from '@nestjs/common';
import { AnchorFreshness } from './anchor-freshness.js';
import { BeforeSigning } from './before-signing.js';
import { Hold } from './hold.js';
import { PersonalDataHolders } from './personal-data.js';
import { ReadinessFacts } from './readiness-facts.js';
import { RecordKeepers } from './record-keepers.js';

const shared = [AnchorFreshness, BeforeSigning, Hold, PersonalDataHolders, ReadinessFacts, RecordKeepers];

/** Where modules and the audit log meet without knowing each other. */
@Global()
@Module({ providers: shared, exports: shared })
export class AuditPortsModule {}
