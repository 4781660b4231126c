import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AgentsModule } from '../agents/agents.module.js';
import { EndedExecutionsStore } from './ended-executions.store.js';
import { ExecutionEntity } from './execution.entity.js';
import { RecordKeepers } from '../../platform/audit/record-keepers.js';
import { executionRecords } from './execution-records.query.js';
import { ExecutionStore } from './execution.store.js';
import { ExecutionsController } from './executions.controller.js';
import { ExecutionsQuery } from './executions.query.js';
import { ExecutionsPersonalData } from './personal-data.store.js';
import { ReportExecutionService } from './report-execution.service.js';

@Module({
  imports: [TypeOrmModule.forFeature([ExecutionEntity]), AgentsModule],
  controllers: [ExecutionsController],
  providers: [EndedExecutionsStore, ExecutionStore, ExecutionsQuery, ReportExecutionService, ExecutionsPersonalData],
  exports: [ExecutionStore, ExecutionsQuery, ExecutionsPersonalData],
})
export class ExecutionsModule {
  constructor(keepers: RecordKeepers) {
    keepers.register(executionRecords);
  }
}
