import { SHARED_EVENTS } from '../../../domain/audit/judging/shared-facts.js';
import type { StoredEntry } from '../../../domain/audit/stored-entry.js';
import type { ReadStatement } from '../../../platform/audit/record-keepers.js';
import { ENTRY_COLUMNS, numbered, type EntryRow } from '../entry-rows.js';

const BATCH = 2_000;

/**
 * Entries that tell what many agents share: those of organizations' own chains, with the first of each, which shows that nothing is cut
 * off; and all about agents that were transferred, also from organizations that are not asked for: an agent brings along what it was.
 */
const SHARED = `
  select ${ENTRY_COLUMNS} from audit_entries e
  where ($1::text[] is null or e.organization_id = any ($1) or e.organization_id = 'org_platform')
    and e.chain = case e.organization_id when 'org_platform' then 'sys_platform' else 'sys_' || e.organization_id end
    and (e.seq = 1 or e.event = any ($2))
  union all
  select ${ENTRY_COLUMNS} from audit_entries e
  where e.event like 'agent.%' and e.chain in (
    select t.chain from audit_entries t where t.event = 'agent.transferred' and ($1::text[] is null or t.organization_id = any ($1)))
  order by chain, seq`;

/** @param cursor a name that no other cursor of the transaction has */
export async function* sharedEntries(
  run: ReadStatement, organizations: readonly string[] | 'all', cursor: string,
): AsyncGenerator<readonly StoredEntry[]> {
  await run(`declare ${cursor} no scroll cursor for ${SHARED}`, [organizations === 'all' ? null : organizations, SHARED_EVENTS]);
  for (;;) {
    const rows = (await run(`fetch ${BATCH} from ${cursor}`, [])) as EntryRow[];
    if (rows.length > 0) yield rows.map(numbered) as StoredEntry[];
    if (rows.length < BATCH) return;
  }
}
