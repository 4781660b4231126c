import { Injectable } from '@nestjs/common';
import type { Tx } from '../database/tx.js';

/** Rows beside the log whose payloads are kept for a time only: what was asked for and what came of it, of what has ended. */
export interface EndedRecords {
  readonly name: string;
  /**
   * Blanks the payloads of at most `limit` rows that ended before; what was blanked before is not looked at again. Digests stay, and
   * so do the entries of the log. Answers how many it has blanked: fewer than the limit is the end.
   */
  blank(tx: Tx, before: Date, limit: number): Promise<number>;
}

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
