import { executionSpansOf } from '../../../../domain/audit/retention/execution-spans.js';
import { planCutPoints, type CutPoint, type ErasureLink, type Span } from '../../../../domain/audit/retention/cut-point.js';
import type { ReadStatement } from '../../../../platform/audit/record-keepers.js';
import { leavesOf } from '../../checkpoints/tree-reader.query.js';
import { nothingBelow } from '../retention-run.store.js';
import { firstEntries } from '../archives/archive-references.query.js';
import { entriesWithin, namedLater, type PlannedEntry } from './retention-plan.query.js';
import type { RetentionCheckpoint } from '../retention-run.js';

/** What goes in one retention run: of each chain its first entries, up to a position. */
export interface RetentionBatch {
  readonly below: RetentionCheckpoint;
  /** Leaves [from, to) of the tree hold all that goes. */
  readonly from: number;
  readonly to: number;
  /** The first entry of each chain that is there. */
  readonly firsts: ReadonlyMap<string, number>;
  readonly cuts: readonly CutPoint[];
  /** Ids of the entries of earlier retention runs that go. */
  readonly sweepEntries: ReadonlySet<string>;
  /** Whether there are leaves below the checkpoint that were not looked at. */
  readonly more: boolean;
}

export interface RetentionBatchRequest {
  readonly below: RetentionCheckpoint;
  /**
   * What was written later stays, too: nothing binds of a checkpoint's row which leaf of the platform's tree was made with it, and so how
   * old it is; when an entry was written stands in its hash. ISO 8601.
   */
  readonly before: string;
  /** About how many entries. */
  readonly atOnce: number;
  /** Chains of which nothing can be cut; the plan adds to them. */
  readonly blocked: Set<string>;
}

/** An execution that others ran past is looked for so much farther; then its chain waits for the next pass. */
const WIDEST = 16;

/**
 * Plans the next retention run of an organization: of what lies below the checkpoint about so many entries, the oldest first, as far as
 * nothing is parted that belongs together. Memory is bounded by their number.
 */
export async function planBatch(
  run: ReadStatement, organizationId: string, { below, before, atOnce, blocked }: RetentionBatchRequest,
): Promise<RetentionBatch | undefined> {
  const firsts = new Map((await firstEntries(run, organizationId)).map(({ chain, seq }) => [chain, seq]));
  const start = await nothingBelow(run, organizationId);
  for (let limit = atOnce; ; limit *= 4) {
    const seen = await look(run, organizationId, { from: start, to: below.size, limit, firsts, blocked });
    const covered = [...seen.covered].map(([chain, last]): Span => ({ chain, first: firsts.get(chain)!, last }));
    const entries = withoutYoung(await entriesWithin(run, organizationId, covered), before);
    const cuts = entries.length === 0 ? [] : await cutsOf(run, organizationId, entries, { from: seen.from, to: seen.to, firsts });
    const more = seen.to < below.size;
    if (cuts.length > 0) return { below, from: seen.from, to: seen.to, firsts, cuts, sweepEntries: sweepEntriesIn(entries, cuts), more };
    if (!more) return undefined;
    if (limit < atOnce * WIDEST) continue;
    for (const { chain } of covered) blocked.add(chain);
    limit = atOnce / 4;
  }
}

interface Looking {
  readonly from: number;
  readonly to: number;
  readonly limit: number;
  readonly firsts: ReadonlyMap<string, number>;
  readonly blocked: ReadonlySet<string>;
}

/** How far a number of entries that are still there reaches, in each chain and in the tree. */
async function look(run: ReadStatement, organizationId: string, { from, to, limit, firsts, blocked }: Looking) {
  const covered = new Map<string, number>();
  let count = 0;
  let first: number | undefined;
  let end = from;
  for await (const leaves of leavesOf(run, organizationId, from, to)) {
    for (const { index, chain, seq } of leaves) {
      if (count === limit) return { covered, from: first ?? end, to: end };
      end = index + 1;
      if (seq < (firsts.get(chain) ?? Infinity)) continue;
      first ??= index;
      if (blocked.has(chain)) continue;
      covered.set(chain, seq);
      count++;
    }
  }
  return { covered, from: first ?? end, to: end };
}

/** Of each chain the entries before the first one that was not written before this moment. */
function withoutYoung(entries: readonly PlannedEntry[], before: string): PlannedEntry[] {
  const ended = new Set<string>();
  return entries.filter(({ chain, timestamp }) => {
    if (timestamp >= before) ended.add(chain);
    return !ended.has(chain);
  });
}

function sweepEntriesIn(entries: readonly PlannedEntry[], cuts: readonly CutPoint[]): Set<string> {
  const last = new Map(cuts.map(({ chain, seq }) => [chain, seq]));
  return new Set(entries
    .filter(({ event, chain, seq }) => event === 'admin.audit_retention_sweep' && seq <= (last.get(chain) ?? 0))
    .map(({ id }) => id));
}

async function cutsOf(
  run: ReadStatement, organizationId: string, entries: readonly PlannedEntry[],
  window: { readonly from: number; readonly to: number; readonly firsts: ReadonlyMap<string, number> },
): Promise<CutPoint[]> {
  const events = entries.filter(({ executionId, hitlId }) => executionId !== null || hitlId !== null);
  const executions = [...new Set(events.flatMap(({ executionId }) => executionId ?? []))];
  const newest = entries.reduce((last, { timestamp }) => (timestamp > last ? timestamp : last), '');
  const later = await namedLater(run, organizationId, executions, newest);
  const known = new Set(events.map(({ chain, seq }) => `${chain} ${seq}`));
  // From the last to the first: cutting lower for one then shows at once what that parts.
  const spans = executionSpansOf([...events, ...later.filter(({ chain, seq }) => !known.has(`${chain} ${seq}`))])
    .sort((a, b) => b.spans[0]!.first - a.spans[0]!.first);
  const erasures = entries.filter(({ event }) => event === 'gdpr.erasure_executed');
  const links = erasures.length === 0 ? [] : await linksOf(run, organizationId, erasures, window);
  const covered = new Map(entries.map(({ chain, seq }) => [chain, seq]));
  return planCutPoints([...covered].map(([chain, seq]) => ({ chain, first: window.firsts.get(chain)!, covered: seq })), spans, links);
}

/** Where the entries stand that erasures list, as far as they are there: all of them came before the erasure. */
async function linksOf(
  run: ReadStatement, organizationId: string, erasures: readonly PlannedEntry[],
  { from, to, firsts }: { readonly from: number; readonly to: number; readonly firsts: ReadonlyMap<string, number> },
): Promise<ErasureLink[]> {
  const listed = new Set(erasures.flatMap(({ erased }) => erased));
  const positions = new Map<string, { chain: string; seq: number }>();
  for await (const leaves of leavesOf(run, organizationId, from, to)) {
    for (const { chain, seq, hash } of leaves) {
      if (listed.has(hash) && seq >= (firsts.get(chain) ?? Infinity)) positions.set(hash, { chain, seq });
    }
  }
  return erasures.map(({ chain, seq, erased }) => ({ chain, seq, lists: erased.flatMap((hash) => positions.get(hash) ?? []) }));
}
