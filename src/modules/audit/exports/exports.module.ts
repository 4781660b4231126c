import { Module } from '@nestjs/common';
import { OrganizationsModule } from '../../organizations/organizations.module.js';
import { ExportDesk } from './export-desk.js';
import { ExportLogService } from './export-log.service.js';
import { ExportPersonService } from './export-person.service.js';
import { ExportsController } from './exports.controller.js';
import { VerifierPage } from './verifier-page.js';

/** The log as a file that can be verified without this server. */
@Module({
  imports: [OrganizationsModule],
  controllers: [ExportsController],
  providers: [ExportDesk, ExportLogService, ExportPersonService, VerifierPage],
})
export class ExportsModule {}
