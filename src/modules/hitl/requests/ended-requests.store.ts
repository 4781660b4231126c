import { Injectable, type OnModuleInit } from '@nestjs/common';
import { blankOldRows, EndedRecordKeepers, type EndedRecords, type RecordKey } from '../../../platform/audit/ended-records.js';
import type { Tx } from '../../../platform/database/transaction/tx.js';

/** Texts of requests, to be blanked once the requests are decided, their executions have ended and the retention time is over. */
@Injectable()
export class EndedRequestsStore implements EndedRecords, OnModuleInit {
  readonly name = 'requests';

  constructor(private readonly keepers: EndedRecordKeepers) {}

  onModuleInit(): void {
    this.keepers.register(this);
  }

  /** Blanks the nonce too, without which guesses cannot be tried against the digest. The digest stays: approvals and entries name it. */
  blank(tx: Tx, before: Date, limit: number, after?: RecordKey): Promise<{ blanked: number; next?: RecordKey }> {
    return blankOldRows(tx, {
      table: 'hitl_requests',
      prefix: 'hitl',
      set: `input = '{}', context = null, nonce = '', action = null, requested_input = null, edit_diff = null, note = null,
        escalation_reason = null`,
      due: `r.status not in ('pending', 'escalated') and coalesce(r.decided_at, r.expires_at) < $4
        and (r.input <> '{}' or r.context is not null or r.nonce <> '' or r.action is not null or r.requested_input is not null
          or r.edit_diff is not null or r.note is not null or r.escalation_reason is not null)
        and not exists (select from executions x where x.organization_id = r.organization_id and x.id = r.execution_id
          and (x.closed_at is null or x.closed_at >= $4))`,
    }, before, limit, after);
  }
}
