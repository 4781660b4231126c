import type { DataSource, QueryRunner } from 'typeorm';
import type { ChainRef } from '../../domain/audit/chain.js';
import { Problem } from '../http/problem.js';
import { outwaitSilent } from './silent-holders.js';

/**
 * Inserts the heads that begin, then locks all heads in one order. Unsorted, two transactions deadlock more often than
 * not; locked after reading, a decision rests on what no longer holds.
 *
 * @throws Problem NOT_FOUND when a head is not there, or its segment is closed
 */
export async function lockHeads(
  runner: QueryRunner,
  { chains, creates = [] }: { chains: readonly ChainRef[]; creates?: readonly ChainRef[] },
): Promise<void> {
  if (creates.length > 0) {
    await runner.query(`insert into audit_heads (organization_id, chain) select * from unnest($1::text[], $2::text[])`, columns(creates));
  }
  if (chains.length === 0) return;
  const locked = (await runner.query(
    `select closed_at from audit_heads where (organization_id, chain) in (select * from unnest($1::text[], $2::text[]))
     order by organization_id, chain for update`,
    columns(chains),
  )) as { closed_at: Date | null }[];
  const distinct = new Set(chains.map((chain) => `${chain.organizationId}/${chain.chain}`)).size;
  if (locked.filter((head) => head.closed_at === null).length < distinct) throw new Problem('NOT_FOUND');
}

/** Takes the barrier of each organization shared: whoever changes its shared facts waits for this transaction to end. */
export async function shareBarrier(runner: QueryRunner, organizationIds: readonly string[]): Promise<void> {
  for (const organizationId of [...new Set(organizationIds)].sort()) {
    await runner.query('select pg_advisory_xact_lock_shared(organization_barrier_v1($1))', [organizationId]);
  }
}

/** How many barriers are tried at once: each is a lock in a table of bounded size. */
const TRIED_AT_ONCE = 500;

/**
 * Passes the barrier of each organization, or of every one there is: those that nobody holds by trying them, without holding
 * anybody up, the others in turn.
 */
export async function passBarriers(dataSource: DataSource, organizations: readonly string[] | 'all'): Promise<void> {
  const ids = organizations === 'all' ? await allOrganizations(dataSource) : [...new Set(organizations)].sort();
  for (let first = 0; first < ids.length; first += TRIED_AT_ONCE) {
    const held = await dataSource.query<{ id: string }[]>(
      'select id from unnest($1::text[]) as tried(id) where not pg_try_advisory_xact_lock(organization_barrier_v1(id)) order by id',
      [ids.slice(first, first + TRIED_AT_ONCE)],
    );
    for (const { id } of held) await passBarrier(dataSource, id);
  }
}

async function allOrganizations(dataSource: DataSource): Promise<string[]> {
  const rows = await dataSource.query<{ id: string }[]>('select id from organizations order by id');
  return rows.map(({ id }) => id);
}

/**
 * Returns when every transaction that judged by the shared facts as they were has ended. No lock timeout: it has to know;
 * and those of a frozen replica are ended, so this answers within 5 s.
 */
async function passBarrier(dataSource: DataSource, organizationId: string): Promise<void> {
  await dataSource.transaction(async (manager) => {
    await manager.query('set local lock_timeout = 0');
    await manager.query('set local statement_timeout = 0');
    await outwaitSilent(dataSource, manager.queryRunner!, () =>
      manager.query('select pg_advisory_xact_lock(organization_barrier_v1($1))', [organizationId]));
  });
}

function columns(chains: readonly ChainRef[]): [string[], string[]] {
  return [chains.map((chain) => chain.organizationId), chains.map((chain) => chain.chain)];
}
