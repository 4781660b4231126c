import { Module } from '@nestjs/common';
import { OrganizationsModule } from '../../organizations/organizations.module.js';
import { ExportsService } from './exports.service.js';
import { ExportLogService } from './export-log.service.js';
import { ExportPersonService } from './export-person.service.js';
import { ExportsController } from './exports.controller.js';
import { VerifierPage } from './verifier-page.js';

/** The log as a file that can be verified without this server. */
@Module({
  imports: [OrganizationsModule],
  controllers: [ExportsController],
  providers: [ExportsService, ExportLogService, ExportPersonService, VerifierPage],
})
export class ExportsModule {}
