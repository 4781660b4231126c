import { AGENT_EVENTS } from '../../../../domain/audit/replay/state/agent-chain.js';
import { PEOPLE_EVENTS, SHARED_EVENTS } from '../../../../domain/audit/replay/state/shared-facts.js';
import type { SubjectRow } from '../../../../domain/audit/completeness/subject-index-check.js';
import type { StoredEntry } from '../../../../domain/audit/entry/stored-entry.js';
import type { Selection } from '../../../../domain/audit/integrity/verify-log.js';
import type { ReadStatement } from '../../../../platform/audit/record-keepers.js';
import { readByCursor } from '../../../../platform/database/statements/read-by-cursor.js';
import { bounded } from '../../query/bounded-text.js';
import { MEASURED_COLUMNS, numbered, type Row } from '../../query/entry-rows.js';
import { streamedEntries } from '../../query/entries.query.js';

const OWN = `($1::text[] is null or e.organization_id = any ($1) or e.organization_id = 'org_platform')
    and e.chain = case e.organization_id when 'org_platform' then 'sys_platform' else 'sys_' || e.organization_id end`;

/**
 * Entries of facts that many agents share: those of organizations' own chains, with the first entry of each, which shows that nothing is
 * cut off, and the last, beyond which no decision can rest; the entries about agents that gave tasks, and about agents that were
 * transferred, which bring their facts along; and, from other organizations, about people of the same tenant, whose owners act in all of
 * its organizations.
 */
const SHARED = `
  select ${MEASURED_COLUMNS} from audit_entries e where ${OWN} and (e.seq = 1 or e.event = any ($2))
  union all
  select ${MEASURED_COLUMNS} from audit_heads h
  join audit_entries e on (e.organization_id, e.chain, e.seq) = (h.organization_id, h.chain, h.seq)
  where ${OWN} and e.seq > 1 and e.event <> all ($2)
  union all
  select ${MEASURED_COLUMNS} from unnest($3::text[]) as beside(id)
  join audit_entries e on e.organization_id = beside.id and e.chain = 'sys_' || beside.id and (e.seq = 1 or e.event = any ($4))
  union all
  select ${MEASURED_COLUMNS} from audit_entries e
  where e.event = any ($5) and e.chain in (
    select t.chain from audit_entries t where t.event = 'agent.transferred' and ($1::text[] is null or t.organization_id = any ($1))
    union all
    select unnest($6::text[]))
  order by chain, seq`;

export interface SharedScope {
  readonly organizations: readonly string[] | 'all';
  /** Organizations of the same tenants. */
  readonly related: readonly string[];
  /** Agents that gave tasks. */
  readonly delegators: readonly string[];
}

export function sharedEntries(
  run: ReadStatement, { organizations, related, delegators }: SharedScope,
): AsyncIterable<readonly StoredEntry[]> {
  const asked = organizations === 'all' ? null : organizations;
  const beside = asked ? related.filter((id) => !asked.includes(id)) : [];
  return streamedEntries(run, SHARED, [asked, SHARED_EVENTS, beside, PEOPLE_EVENTS, AGENT_EVENTS, delegators]);
}

const SUBJECTS = `
  select ${bounded('s.organization_id')} as "organizationId", ${bounded('s.user_id')} as "userId", ${bounded('s.entry_id')} as "entryId",
    ${bounded('s.pointer')} as pointer, ${bounded('s.chain')} as chain, s.seq, ${bounded('s.event')} as event,
    ${bounded('s.capability')} as capability, ${bounded('s.outcome')} as outcome, ${bounded('s."timestamp"')} as "timestamp"
  from audit_subjects s where ($1::text is null or s.organization_id = $1) and ($2::text is null or s.chain = $2)`;

/** Rows of the table by which a person's entries are found, in no order. */
export async function* subjectRows(
  run: ReadStatement, { organizationId, chain }: Selection,
): AsyncGenerator<readonly SubjectRow[]> {
  const batches = readByCursor<Row<SubjectRow>>(run, SUBJECTS, [organizationId ?? null, chain ?? null]);
  for await (const batch of batches) yield batch.map(numbered);
}

const TENANTS = `
  select id, tenant_id as tenant from organizations
  where tenant_id is not null
    and ($1::text[] is null or tenant_id in (select tenant_id from organizations where id = any ($1)))`;

/** The tenants of these organizations and of all others of the same tenants, as the rows have them, by organization. */
export async function tenantsAround(run: ReadStatement, organizations: readonly string[] | 'all'): Promise<ReadonlyMap<string, string>> {
  const rows = (await run(TENANTS, [organizations === 'all' ? null : organizations])) as { id: string; tenant: string }[];
  return new Map(rows.map(({ id, tenant }) => [id, tenant]));
}
