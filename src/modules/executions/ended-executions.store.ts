import { Injectable, type OnModuleInit } from '@nestjs/common';
import { blankOldRows, EndedRecordKeepers, type EndedRecords, type RecordKey } from '../../platform/audit/ended-records.js';
import type { Tx } from '../../platform/database/transaction/tx.js';

/** Inputs and results of executions, to be blanked once the executions have ended and their retention time is over. */
@Injectable()
export class EndedExecutionsStore implements EndedRecords, OnModuleInit {
  readonly name = 'executions';

  constructor(private readonly keepers: EndedRecordKeepers) {}

  onModuleInit(): void {
    this.keepers.register(this);
  }

  /** Keeps the code of an error and blanks its message, which may quote a runtime, and all free text of reports and settlements. */
  blank(tx: Tx, before: Date, limit: number, after?: RecordKey): Promise<{ blanked: number; next?: RecordKey }> {
    return blankOldRows(tx, {
      table: 'executions',
      prefix: 'exec',
      set: `input = '{}', context = null, output = null, action = null, edit = null,
        error = case when r.error is not null then json_build_object('code', r.error ->> 'code', 'message', '') end,
        report = (r.report::jsonb - 'output' - 'error')::json, settlement = jsonb_set(r.settlement::jsonb, '{note}', '""')::json`,
      due: `r.closed_at < $4 and (r.input <> '{}' or r.context is not null or r.output is not null or r.action is not null
        or r.edit is not null or r.error ->> 'message' <> '' or r.settlement ->> 'note' <> ''
        or r.report::jsonb ?| array['output', 'error'])`,
    }, before, limit, after);
  }
}
