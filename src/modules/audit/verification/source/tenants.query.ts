import type { ReadStatement } from '../../../../platform/audit/record-keepers.js';

const TENANTS = `
  select id, tenant_id as tenant from organizations
  where tenant_id is not null
    and ($1::text[] is null or tenant_id in (select tenant_id from organizations where id = any ($1)))`;

/** The tenants of these organizations and of all others of the same tenants, as the rows have them, by organization. */
export async function tenantsAround(run: ReadStatement, organizations: readonly string[] | 'all'): Promise<ReadonlyMap<string, string>> {
  const rows = (await run(TENANTS, [organizations === 'all' ? null : organizations])) as { id: string; tenant: string }[];
  return new Map(rows.map(({ id, tenant }) => [id, tenant]));
}
