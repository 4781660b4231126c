import type { AnchoredNote } from '../../../platform/audit/anchor.js';
import type { ReadStatement } from '../../../platform/audit/record-keepers.js';

/** How far an anchor has come, by this database's word. */
export interface Watermark {
  readonly destination: string;
  readonly size: number;
  readonly root?: string;
  readonly note?: string;
  /** Why the last try failed, if it did. */
  readonly error?: string;
}

const LONGEST_ERROR = 500;

export async function watermarks(run: ReadStatement): Promise<Watermark[]> {
  const rows = (await run('select destination, size, root, note, error from audit_anchors order by destination', [])) as {
    destination: string; size: string; root: string | null; note: string | null; error: string | null;
  }[];
  return rows.map(({ destination, size, root, note, error }) => ({
    destination,
    size: Number(size),
    ...(root === null ? {} : { root }),
    ...(note === null ? {} : { note }),
    ...(error === null ? {} : { error }),
  }));
}

/** An anchor has this now. */
export async function setWatermark(run: ReadStatement, destination: string, { size, root, note }: AnchoredNote): Promise<void> {
  await run(
    `insert into audit_anchors (destination, size, root, note, anchored_at) values ($1, $2, $3, $4, clock_timestamp())
     on conflict (destination) do update
     set size = excluded.size, root = excluded.root, note = excluded.note, anchored_at = excluded.anchored_at, error = null`,
    [destination, size, root, note],
  );
}

export async function setFailure(run: ReadStatement, destination: string, error: string): Promise<void> {
  await run(
    `insert into audit_anchors (destination, failed_at, error) values ($1, clock_timestamp(), $2)
     on conflict (destination) do update set failed_at = excluded.failed_at, error = excluded.error`,
    [destination, error.slice(0, LONGEST_ERROR)],
  );
}
