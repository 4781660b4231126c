import { PLATFORM_ORGANIZATION } from '../../../domain/audit/entry/chain.js';
import type { ReadStatement } from '../../../platform/audit/record-keepers.js';
import type { Scope } from '../../../platform/auth/access/scope.js';

/** Steps from one organization to the next through the key of a table, so that a long log costs no more than a short one. */
export const IN_HEADS = `
  with recursive found as (
    (select x.organization_id as id from audit_heads x order by x.organization_id limit 1)
    union all
    select (select x.organization_id from audit_heads x where x.organization_id > found.id order by x.organization_id limit 1)
    from found where found.id is not null)
  select id from found where id is not null`;

/**
 * The organizations of a scope of which the log holds anything: all chains, or those that hold this one. The installation's own is
 * always among all, so that no file of everything is without a section in which it shows the map.
 */
export async function organizationsWithLog(run: ReadStatement, scope: Pick<Scope, 'organizations'>, chain?: string): Promise<string[]> {
  const { organizations } = scope;
  const rows = organizations === 'all' ? await run(IN_HEADS, []) : organizations.map((id) => ({ id }));
  const known = (rows as { id: string }[]).map(({ id }) => id);
  const ids = organizations === 'all' ? [...new Set([PLATFORM_ORGANIZATION, ...known])] : known;
  return chain === undefined ? ids : named(await run(HOLDING_CHAIN, [ids, chain]));
}

/** Those of them in which something concerns a person. */
export async function organizationsAbout(run: ReadStatement, scope: Pick<Scope, 'organizations'>, userId: string): Promise<string[]> {
  return named(await run(ABOUT, [await organizationsWithLog(run, scope), userId]));
}

function named(rows: unknown[]): string[] {
  return (rows as { id: string }[]).map(({ id }) => id);
}

const HOLDING_CHAIN = `
  select wanted.id from unnest($1::text[]) with ordinality as wanted(id, n)
  where exists (select from audit_heads h where h.organization_id = wanted.id and h.chain = $2) order by wanted.n`;

const ABOUT = `
  select wanted.id from unnest($1::text[]) with ordinality as wanted(id, n)
  where exists (select from audit_subjects s where s.organization_id = wanted.id and s.user_id = $2) order by wanted.n`;
