import { Injectable, type OnModuleInit } from '@nestjs/common';
import { blankOldRows, EndedRecordKeepers, type EndedRecords, type RecordKey } from '../../platform/audit/ended-records.js';
import type { Tx } from '../../platform/database/transaction/tx.js';

/** Inputs and descriptions of tasks, to be blanked once the tasks have ended and their retention time is over. */
@Injectable()
export class EndedTasksStore implements EndedRecords, OnModuleInit {
  readonly name = 'tasks';

  constructor(private readonly keepers: EndedRecordKeepers) {}

  onModuleInit(): void {
    this.keepers.register(this);
  }

  blank(tx: Tx, before: Date, limit: number, after?: RecordKey): Promise<{ blanked: number; next?: RecordKey }> {
    return blankOldRows(tx, {
      table: 'tasks',
      prefix: 'task',
      set: `input = '{}', description = null`,
      due: `(r.ended_at < $4 or exists (select from executions e
          where e.organization_id = r.organization_id and e.id = r.execution_id and e.closed_at < $4))
        and (r.input <> '{}' or r.description is not null)`,
    }, before, limit, after);
  }
}
