import { firstIdAt } from '../../../domain/ids.js';
import type { ReadStatement } from '../../../platform/audit/record-keepers.js';
import { askable } from '../query/entry-rows.js';
import { NEAR_MS } from '../query/index-scan.js';
import { leavesOf, leafPositionOf } from '../checkpoints/tree-reader.query.js';

/** Leaves that are looked at together when the edge of a window is searched. */
const STEP = 1_024;

/**
 * The leaves [first, end), among the first `size`, of a window in time: from the first whose entry was made at `from` or later to the
 * last made at `to` or earlier. A tree is not in the order of time, but not far from it: the edge that an index gives is moved
 * outwards until a whole step of leaves lies beyond it by more than clocks and waiting can differ.
 */
export async function windowOf(
  run: ReadStatement, organizationId: string, size: number, from?: string, to?: string,
): Promise<readonly [first: number, end: number]> {
  const first = from === undefined ? 0 : await firstOf(run, organizationId, size, from);
  return [first, to === undefined ? size : await endOf(run, organizationId, size, to)];
}

async function firstOf(run: ReadStatement, organizationId: string, size: number, from: string): Promise<number> {
  let first = Math.min(size, await edge(run, organizationId, EARLIEST, [from, firstIdAt('audit', Date.parse(from) - NEAR_MS)]) ?? size);
  const tooEarly = new Date(Date.parse(from) - NEAR_MS).toISOString();
  for (let at = first; at > 0; at -= STEP) {
    const start = Math.max(0, at - STEP);
    const times = await timesOf(run, organizationId, start, at);
    const found = times.findIndex((time) => time !== null && time >= from);
    if (found >= 0) first = start + found;
    if (times.every((time) => time === null || time < tooEarly)) break;
  }
  return first;
}

async function endOf(run: ReadStatement, organizationId: string, size: number, to: string): Promise<number> {
  const last = await edge(run, organizationId, LATEST, [to, firstIdAt('audit', Date.parse(to) + NEAR_MS + 1)]);
  if (last === undefined) return 0;
  let end = Math.min(size, last + 1);
  const tooLate = new Date(Date.parse(to) + NEAR_MS).toISOString();
  for (let at = end; at < size; at += STEP) {
    const times = await timesOf(run, organizationId, at, Math.min(size, at + STEP));
    // Behind the end of the tree: somebody has given the checkpoint a size that no tree has.
    if (times.length === 0) break;
    const found = times.findLastIndex((time) => time !== null && time <= to);
    if (found >= 0) end = at + found + 1;
    // Swept entries have no time, and lie before all others.
    if (times.some((time) => time !== null) && times.every((time) => time === null || time > tooLate)) break;
  }
  return end;
}

/** The index of the first or the last entry by id; infinite while it is queued; undefined where there is none. */
async function edge(run: ReadStatement, organizationId: string, sql: string, bounds: readonly string[]): Promise<number | undefined> {
  const [row] = (await run(sql, [organizationId, ...bounds])) as { chain: string; seq: string; timestamp: string }[];
  return row && ((await leafPositionOf(run, organizationId, { ...row, seq: Number(row.seq) })) ?? Infinity);
}

const EARLIEST = `select e.chain, e.seq, e."timestamp" from audit_entries e
  where e.organization_id = $1 and e."timestamp" >= $2 and e.id >= $3 order by e.id limit 1`;

const LATEST = `select e.chain, e.seq, e."timestamp" from audit_entries e
  where e.organization_id = $1 and e."timestamp" <= $2 and e.id < $3 order by e.id desc limit 1`;

/** When the entries of leaves [from, to) were made; null for what is gone. */
async function timesOf(run: ReadStatement, organizationId: string, from: number, to: number): Promise<(string | null)[]> {
  const times: (string | null)[] = [];
  for await (const leaves of leavesOf(run, organizationId, from, to)) {
    const rows = (await run(TIMES, [organizationId, leaves.map(({ chain }) => chain), leaves.map(({ seq }) => askable(seq))])) as
      { timestamp: string | null }[];
    times.push(...rows.map(({ timestamp }) => timestamp));
  }
  return times;
}

const TIMES = `
  select e."timestamp" from unnest($2::text[], $3::bigint[]) with ordinality as leaf(chain, seq, n)
  left join audit_entries e on e.organization_id = $1 and e.chain = leaf.chain and e.seq = leaf.seq order by leaf.n`;
