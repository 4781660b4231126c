import { Injectable } from '@nestjs/common';
import { firstIdAt, type IdPrefix } from '../../domain/ids.js';
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

export interface BlankedTable {
  readonly table: string;
  readonly prefix: IdPrefix;
  /** Assignments of the update, over the row `r`. */
  readonly set: string;
  /** Which rows have ended before `$4`, and hold something still. */
  readonly due: string;
}

/** One step of a pass over a table in the order of its key: ids sort by the time at which rows were made, before which none ended. */
export async function blankOldRows(
  tx: Tx, { table, prefix, set, due }: BlankedTable, before: Date, limit: number, after: RecordKey = ['', ''],
): Promise<{ readonly blanked: number; readonly next?: RecordKey }> {
  const [row] = await tx.query<{ blanked: number; looked: number; organization_id: string; id: string }>(
    `with page as (
       select p.organization_id, p.id from ${table} p where (p.organization_id, p.id) > ($1, $2) and p.id < $5
       order by p.organization_id, p.id limit $3),
     blanked as (
       update ${table} r set ${set} from page where r.organization_id = page.organization_id and r.id = page.id and ${due} returning 1)
     select (select count(*)::integer from blanked) as blanked, (select count(*)::integer from page) as looked,
       last.organization_id, last.id
     from (select organization_id, id from page order by organization_id desc, id desc limit 1) last`,
    [...after, limit, before, firstIdAt(prefix, before.getTime())],
  );
  if (!row) return { blanked: 0 };
  return { blanked: row.blanked, ...(row.looked === limit ? { next: [row.organization_id, row.id] as const } : {}) };
}
