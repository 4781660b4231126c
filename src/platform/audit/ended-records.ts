import { Injectable } from '@nestjs/common';
import type { Tx } from '../database/transaction/tx.js';
import { Registry } from './registry.js';

/** Rows beside the log whose payloads are kept for a time only, once the record has ended. */
export interface EndedRecords {
  readonly name: string;
  /**
   * Reads the next `limit` rows behind `after`, oldest first, and blanks the payloads of rows that ended before the time: input, outcome,
   * and the nonce of their digest. Digests and the entries of the log stay. A second call changes nothing.
   */
  blank(tx: Tx, before: Date, limit: number, after?: RecordKey): Promise<{ readonly blanked: number; readonly next?: RecordKey }>;
}

/** The last row of a pass. */
export type RecordKey = readonly [organizationId: string, id: string];

@Injectable()
export class EndedRecordKeepers extends Registry<EndedRecords> {}
