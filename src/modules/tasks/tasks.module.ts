import { Module } from '@nestjs/common';
import { AwaitTaskService } from './await-task.service.js';
import { EndTasksService } from './end-tasks.service.js';
import { EndedTasksStore } from './ended-tasks.store.js';
import { TasksPersonalData } from './personal-data.store.js';
import { RecordKeepers } from '../../platform/audit/record-keepers.js';
import { TaskOfCallQuery } from './task-of-call.query.js';
import { taskRecords } from './task-records.query.js';
import { TaskStore } from './task.store.js';
import { TaskSweep } from './task-sweep.service.js';
import { TasksController } from './tasks.controller.js';
import { TasksQuery } from './tasks.query.js';

/** Tasks that agents and people give to agents. The gate reads which task a call does; delegating is the routing module's. */
@Module({
  controllers: [TasksController],
  providers: [AwaitTaskService, EndTasksService, EndedTasksStore, TaskOfCallQuery, TaskStore, TaskSweep, TasksPersonalData, TasksQuery],
  exports: [EndTasksService, TaskOfCallQuery, TaskStore, TasksQuery],
})
export class TasksModule {
  constructor(keepers: RecordKeepers) {
    keepers.register(taskRecords);
  }
}
