import { Module } from '@nestjs/common';
import { RecordKeepers } from '../../platform/audit/record-keepers.js';
import { SignedErasuresModule } from '../audit/erasures/erasures.module.js';
import { SweepsModule } from '../audit/sweeps/sweeps.module.js';
import { OrganizationsModule } from '../organizations/organizations.module.js';
import { AskErasureService } from './ask-erasure.service.js';
import { AskedErasures } from './asked-erasures.service.js';
import { EraseArchive } from './erase-archive.service.js';
import { EraseRows } from './erase-rows.service.js';
import { EraseUserSearches } from './erase-user-searches.service.js';
import { EraseUserService } from './erase-user.service.js';
import { ErasureJob } from './erasure-job.service.js';
import { erasureRecords } from './erasure-records.query.js';
import { ErasureLedger } from './erasure-ledger.service.js';
import { ErasureStore } from './erasure.store.js';
import { ErasureSteps } from './erasure-steps.service.js';
import { ErasureTexts } from './erasure-texts.js';
import { ErasuresController } from './erasures.controller.js';
import { ErasuresPersonalData } from './erasures.personal-data.js';
import { ErasuresQuery } from './erasures.query.js';
import { Foresee } from './foresee.service.js';
import { LogSearchQuery } from './log-search.query.js';
import { LookFor } from './look-for.service.js';
import { UserDataController } from './user-data.controller.js';

/** What a person may ask of their data: a copy of it, and its end. */
@Module({
  imports: [OrganizationsModule, SignedErasuresModule, SweepsModule],
  controllers: [ErasuresController, UserDataController],
  providers: [
    AskErasureService, AskedErasures, EraseArchive, EraseRows, EraseUserSearches, EraseUserService, ErasureJob, ErasureLedger,
    ErasureStore, ErasureSteps, ErasureTexts, ErasuresPersonalData, ErasuresQuery, Foresee, LogSearchQuery, LookFor,
  ],
})
export class PrivacyModule {
  constructor(keepers: RecordKeepers) {
    keepers.register(erasureRecords);
  }
}
