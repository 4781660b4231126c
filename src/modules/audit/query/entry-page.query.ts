import type { StoredEntry } from '../../../domain/audit/entry/stored-entry.js';
import type { RunStatement } from '../../../platform/auth/credentials/credential-source.js';
import { pipelined } from '../../../platform/database/transaction/pipelined.js';
import type { PageRequest } from '../../../platform/http/fields/pagination.js';
import { ENTRY_COLUMNS, numbered, type EntryRow } from './entry-rows.js';
import type { Selection } from './entry-selection.js';
import { keyOf } from './index-scan.js';
import { countStatement, pageStatement, type Statement } from './index-scans.query.js';

export interface Wanted {
  readonly selection: Selection;
  readonly organizations: readonly string[];
}

/** One more than a page, so that it shows whether more follow; and how many there are, counted up to a number. */
export async function pageOfEntries(
  run: RunStatement, { selection, organizations }: Wanted, page: PageRequest, most: number,
): Promise<readonly [page: StoredEntry[], counted: number]> {
  const [cursor] = page.after ?? [];
  const after = keyOf(selection) === 'seq' ? sequence(cursor) : (cursor ?? null);
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

/** A cursor of ours over a chain holds a position; anything else points behind its beginning. */
function sequence(text: string | undefined): string | null {
  if (text === undefined) return null;
  return /^\d{1,15}$/.test(text) ? text : '0';
}
