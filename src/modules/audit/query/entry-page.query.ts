import type { StoredEntry } from '../../../domain/audit/entry/stored-entry.js';
import type { RunStatement } from '../../../platform/auth/credentials/credential-source.js';
import { pipelined } from '../../../platform/database/transaction/pipelined.js';
import type { PageRequest } from '../../../platform/http/fields/pagination.js';
import { ENTRY_COLUMNS, numbered, type EntryRow } from './entry-rows.js';
import type { Selection } from './entry-selection.js';
import { IndexScan, keyOf } from './index-scan.js';

export interface Wanted {
  readonly selection: Selection;
  readonly organizations: readonly string[];
}

/** One more than a page, so that it shows whether more follow; and how many there are, counted up to a number. */
export async function pageOfEntries(
  run: RunStatement, { selection, organizations }: Wanted, page: PageRequest, most: number,
): Promise<readonly [page: StoredEntry[], counted: number]> {
  const [cursor] = page.after ?? [];
  // A cursor of ours over a chain holds a position; anything else points behind its beginning.
  const isAfter = cursor === undefined || keyOf(selection) === 'id' || /^\d{1,15}$/.test(cursor);
  const after = isAfter ? (cursor ?? null) : '0';
  const extent = { after, limit: page.limit + 1, offset: page.offset };
  return pipelined([
    entriesOf(run, selection, pageStatement(selection, organizations, extent)),
    totalBy(run, countStatement(selection, organizations, most)),
  ]);
}

async function entriesOf(run: RunStatement, selection: Selection, { sql, parameters }: Statement): Promise<StoredEntry[]> {
  const key = keyOf(selection);
  const { chain } = selection;
  const ofChain = chain === undefined ? '' : `e.chain = $${parameters.length + 1} and `;
  const rows = (await run(
    `select ${ENTRY_COLUMNS} from (${sql}) page cross join lateral (
       select * from audit_entries e where e.organization_id = page.organization_id and ${ofChain}e.${key} = page.key limit 1) e
     order by page.key desc`,
    chain === undefined ? parameters : [...parameters, chain],
  )) as unknown as EntryRow[];
  return rows.map(numbered);
}

async function totalBy(run: RunStatement, { sql, parameters }: Statement): Promise<number> {
  const [row] = await run(sql, parameters);
  return Number(row!['total']);
}

/** Up to so many stretches of an index are merged as they are read, for a page that begins deep; else the newest of each are sorted. */
const MERGED = 64;
const DEEP = 600;

interface Statement {
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

interface Extent {
  /** The key behind which the page begins. */
  readonly after: string | null;
  readonly limit: number;
  readonly offset: number;
}

/** The keys of one page, newest first: columns `organization_id` and `key`, which is `keyOf` the selection. */
function pageStatement(selection: Selection, organizations: readonly string[], extent: Extent): Statement {
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
function countStatement(selection: Selection, organizations: readonly string[], most: number): Statement {
  const walk = new IndexScan(selection);
  return { sql: `select count(*)::integer as total from (${walk.everything(organizations, most)}) counted`, parameters: walk.parameters };
}
