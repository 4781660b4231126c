import type { Selection } from './entry-selection.js';
import { IndexScan } from './index-scan.js';

/** Up to so many stretches of an index are merged as they are read, for a page that begins deep; else the newest of each are sorted. */
const MERGED = 64;
const DEEP = 600;

export interface Statement {
  readonly sql: string;
  readonly parameters: unknown[];
}

const OFF = ['enable_seqscan', 'enable_bitmapscan', 'enable_hashjoin', 'enable_mergejoin', 'enable_sort', 'enable_hashagg', 'jit'];

/**
 * Goes before the statements, in their transaction: an index is read in its order and no further than is wanted. By its estimates,
 * which are old where a log grows fast, the planner would rather collect all of a stretch first; only the few of each are sorted. (What
 * is in order but for ties is sorted as it comes, which reads no further.)
 */
export const IN_ORDER = OFF.map((setting) => `set local ${setting} = off`).join('; ');

export interface Extent {
  /** The key behind which the page begins. */
  readonly after: string | null;
  readonly limit: number;
  readonly offset: number;
}

/** The keys of one page, newest first: columns `organization_id` and `key`, which is `keyOf` the selection. */
export function pageStatement(selection: Selection, organizations: readonly string[], extent: Extent): Statement {
  const walk = new IndexScan(selection, extent.after);
  const stretches = organizations.length * walk.events.length;
  if (stretches > 1 && !(extent.limit + extent.offset > DEEP && stretches <= MERGED)) {
    return newestFirst(walk, extent, organizations);
  }
  const found = walk.merged(organizations, (conditions) => walk.newestKeys(conditions, extent.limit + extent.offset));
  return { sql: cut(found, extent), parameters: walk.parameters };
}

/** So many entries stand in at most as many stretches: those whose newest are newest. No other is read for more than its newest. */
function newestFirst(walk: IndexScan, extent: Extent, organizations: readonly string[]): Statement {
  const most = extent.limit + extent.offset;
  const found = `select stretch.*
    from (select newest.* from (${walk.newest(organizations)}) newest order by newest.key desc limit ${most}) newest
    cross join lateral (${walk.newestKeys(walk.stretch('newest.organization_id', 'newest.event'), most)}) stretch`;
  return { sql: cut(found, extent), parameters: walk.parameters };
}

const cut = (found: string, { limit, offset }: Extent) =>
  `select found.* from (${found}) found order by found.key desc limit ${limit} offset ${offset}`;

/** How many there are, counted up to a number: column `total`. */
export function countStatement(selection: Selection, organizations: readonly string[], most: number): Statement {
  const walk = new IndexScan(selection);
  return { sql: `select count(*)::integer as total from (${walk.everything(organizations, most)}) counted`, parameters: walk.parameters };
}
