import { Injectable, type OnModuleInit } from '@nestjs/common';
import { blankOldRows, EndedRecordKeepers, type EndedRecords, type RecordKey } from '../../platform/audit/ended-records.js';
import type { Tx } from '../../platform/database/transaction/tx.js';

/** What was written about tasks when an agent was looked for: an organization that looks seldom keeps its last decisions for years. */
@Injectable()
export class OldDecisionsStore implements EndedRecords, OnModuleInit {
  readonly name = 'routingDecisions';

  constructor(private readonly keepers: EndedRecordKeepers) {}

  onModuleInit(): void {
    this.keepers.register(this);
  }

  blank(tx: Tx, before: Date, limit: number, after?: RecordKey): Promise<{ blanked: number; next?: RecordKey }> {
    return blankOldRows(tx, {
      table: 'routing_decisions',
      prefix: 'rte',
      set: 'description = null',
      due: 'r.created_at < $4 and r.description is not null',
    }, before, limit, after);
  }
}
