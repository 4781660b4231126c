import { Injectable } from '@nestjs/common';
import type { Tx } from '../database/transaction/tx.js';

/** Rows beside the log whose payloads are kept for a time only: what was asked for and what came of it, of what has ended. */
export interface EndedRecords {
  readonly name: string;
  /**
   * Looks at the next `limit` rows behind `after`, oldest first, and blanks the payloads of those that ended before: what was asked
   * for, what came of it, and the nonce of a digest over it. Digests stay, and so do the entries of the log. Doing it again
   * changes nothing.
   */
  blank(tx: Tx, before: Date, limit: number, after?: RecordKey): Promise<{ readonly blanked: number; readonly next?: RecordKey }>;
}

/** Where a pass over rows has come to. */
export type RecordKey = readonly [organizationId: string, id: string];

/** Modules register at start what of theirs ends. */
@Injectable()
export class EndedRecordKeepers {
  private readonly keepers: EndedRecords[] = [];

  register(keeper: EndedRecords): void {
    this.keepers.push(keeper);
  }

  all(): readonly EndedRecords[] {
    return this.keepers;
  }
}
