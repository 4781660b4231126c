import { Module } from '@nestjs/common';
import { RecordKeepers } from '../../platform/audit/record-keepers.js';
import { AuditModule } from '../audit/audit.module.js';
import { OrganizationsModule } from '../organizations/organizations.module.js';
import { RequestErasureService } from './requests/request-erasure.service.js';
import { EraseArchive } from './execution/erase-archive.service.js';
import { EraseUserService } from './execution/erase-user.service.js';
import { ErasureJob } from './execution/erasure-job.service.js';
import { erasureRecords } from './requests/erasure-records.query.js';
import { ErasureProgress } from './execution/erasure-progress.service.js';
import { ErasureStore } from './execution/erasure.store.js';
import { ErasureSteps } from './execution/erasure-steps.service.js';
import { SealedSearchTexts } from './requests/sealed-search-texts.js';
import { ErasuresController } from './erasures.controller.js';
import { ErasuresPersonalData } from './requests/erasures.personal-data.js';
import { ErasuresQuery } from './requests/erasures.query.js';
import { LogSearchQuery } from './search/log-search.query.js';
import { ErasureSearch } from './search/erasure-search.service.js';
import { UserDataController } from './user-data.controller.js';

/** Erasure of personal data, from the log and from the rows of all modules. */
@Module({
  imports: [OrganizationsModule, AuditModule],
  controllers: [ErasuresController, UserDataController],
  providers: [
    RequestErasureService, EraseArchive, EraseUserService, ErasureJob, ErasureProgress,
    ErasureStore, ErasureSteps, SealedSearchTexts, ErasuresPersonalData, ErasuresQuery, LogSearchQuery, ErasureSearch,
  ],
})
export class PrivacyModule {
  constructor(keepers: RecordKeepers) {
    keepers.register(erasureRecords);
  }
}
