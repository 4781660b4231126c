import type { AnchoredNote } from '../../../platform/audit/anchor.js';
import type { ReadStatement } from '../../../platform/audit/record-keepers.js';

const LONGEST_ERROR = 500;

/** How far anchors have come, by this database's word: the sizes that they have of the platform's tree, by their names. */
export async function watermarks(run: ReadStatement): Promise<Map<string, number>> {
  const rows = (await run('select destination, size from audit_anchors', [])) as { destination: string; size: string | null }[];
  return new Map(rows.map(({ destination, size }) => [destination, Number(size)]));
}

/** The size of the platform's tree that all of these anchors have. @param reported sizes by name: the database's word counts up to these */
export async function anchoredSize(
  run: ReadStatement, names: readonly string[], reported: ReadonlyMap<string, number> = new Map(),
): Promise<number> {
  // Without anchors nothing waits for one.
  if (names.length === 0) return Number.MAX_SAFE_INTEGER;
  const known = await watermarks(run);
  return Math.min(...names.map((name) => Math.min(known.get(name) ?? 0, reported.get(name) ?? Infinity)));
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
