import type { DataSource, QueryRunner } from 'typeorm';
import { type ChainRef, organizationChain } from '../../../domain/audit/entry/chain.js';
import type { RunStatement } from '../../auth/credentials/credential-source.js';
import { Problem } from '../../http/reply/problem.js';
import type { Plan } from './plan.js';
import { SILENT_MS, terminateIdleBlockers } from './idle-blockers.js';

/**
 * Inserts the heads of new chains, then locks all heads in one order. Unsorted, two transactions deadlock more often than
 * not; locked after reading, a decision rests on facts that are no longer true.
 *
 * @returns the chains whose segment is closed, which only a plan that says `evenIfClosed` may name
 * @throws Problem NOT_FOUND when a head is not there, or its segment is closed
 */
export async function lockHeads(runner: QueryRunner, { chains, creates = [], evenIfClosed }: Plan): Promise<ChainRef[]> {
  if (creates.length > 0) {
    await runner.query(`insert into audit_heads (organization_id, chain) select * from unnest($1::text[], $2::text[])`, columns(creates));
  }
  if (chains.length === 0) return [];
  return checked(runner, chains, evenIfClosed, await lock(runner, chains));
}

/**
 * Locks barriers and heads in one round trip to the database; for work that begins no chain.
 *
 * @returns the chains whose segment is closed, as `lockHeads` does
 * @throws Problem NOT_FOUND when a head is not there, or its segment is closed
 */
export async function lockBarriersAndHeads(
  runner: QueryRunner, barriers: readonly string[], { chains, evenIfClosed }: Plan,
): Promise<ChainRef[]> {
  if (barriers.length === 0 && chains.length === 0) return [];
  const heads = (await runner.query(
    'select organization as "organizationId", chain, is_closed as "isClosed" from lock_barriers_and_heads_v1($1, $2, $3)',
    [[...new Set(barriers)].sort(), ...columns(chains)],
  )) as Head[];
  return checked(runner, chains, evenIfClosed, heads);
}

interface Head extends ChainRef {
  isClosed: boolean;
}

async function checked(
  runner: QueryRunner, chains: readonly ChainRef[], evenIfClosed: true | undefined, heads: readonly Head[],
): Promise<ChainRef[]> {
  const distinct = new Set(chains.map((chain) => `${chain.organizationId}/${chain.chain}`)).size;
  const closed = heads.filter((head) => head.isClosed);
  if (heads.length < distinct || (closed.length > 0 && !evenIfClosed)) throw new Problem('NOT_FOUND');
  // An agent's chain sorts before its organization's, so this keeps to the order.
  if (closed.length > 0) await lock(runner, closed.map((head) => organizationChain(head.organizationId)));
  return closed;
}

/**
 * Locks those of these heads that are free and whose organization's barrier is free, in the one order, and answers them. Where the
 * barrier of one of `needed` is taken, it locks none.
 */
export async function lockFreeHeads(runner: QueryRunner, { chains, judges = [] }: Plan, needed: readonly string[]): Promise<ChainRef[]> {
  const free = new Set(((await runner.query(
    `select id from (select distinct id from unnest($1::text[]) as asked(id) order by id) o
     where pg_try_advisory_xact_lock_shared(organization_barrier_v1(id))`,
    [[...judges, ...needed]],
  )) as { id: string }[]).map(({ id }) => id));
  if (needed.some((id) => !free.has(id))) return [];
  const wanted = chains.filter(({ organizationId }) => !judges.includes(organizationId) || free.has(organizationId));
  return runner.query(
    `select organization_id as "organizationId", chain from audit_heads
     where (organization_id, chain) in (select * from unnest($1::text[], $2::text[])) and closed_at is null
     order by organization_id, chain for update skip locked`,
    columns(wanted),
  ) as Promise<ChainRef[]>;
}

function lock(runner: QueryRunner, chains: readonly ChainRef[]): Promise<Head[]> {
  return runner.query(
    `select organization_id as "organizationId", chain, closed_at is not null as "isClosed" from audit_heads
     where (organization_id, chain) in (select * from unnest($1::text[], $2::text[])) order by organization_id, chain for update`,
    columns(chains),
  ) as Promise<Head[]>;
}

/** Whether nobody else has this advisory lock; if so, this transaction has it until it ends. */
export async function isAlone(runner: QueryRunner, key: number): Promise<boolean> {
  const [row] = (await runner.query('select pg_try_advisory_xact_lock($1) as alone', [key])) as [{ alone: boolean }];
  return row.alone;
}

const JOIN_BARRIER = 'select pg_advisory_xact_lock_shared(organization_barrier_v1($1))';
const TAKE_BARRIER = 'select pg_advisory_xact_lock(organization_barrier_v1($1))';

/** Joins the barrier of each organization (shared): a change of its shared facts waits for this transaction to end. */
export async function joinBarriers(runner: QueryRunner, organizationIds: readonly string[]): Promise<void> {
  for (const organizationId of [...new Set(organizationIds)].sort()) await runner.query(JOIN_BARRIER, [organizationId]);
}

/** What they were before is kept beside them: their default is the role's, not the session's. */
const [LOCK, STATEMENT] = ['lock_timeout', 'statement_timeout'];

/**
 * The same for a transaction that changes shared facts of the organizations `changed`. It takes the barriers of these exclusively: every
 * transaction that judged by the older facts has ended, and none begins to judge before this one ends. All barriers are taken in one
 * order, whatever the mode.
 *
 * The wait has no limit, since a stop has to come into force. Afterwards this transaction is ended if it idles, so that those who wait for
 * its barriers never wait for a frozen server.
 */
export async function takeBarriers(
  dataSource: DataSource, runner: QueryRunner, changed: readonly string[], shared: readonly string[],
): Promise<void> {
  await runner.query(`select set_config('countersign.${LOCK}', current_setting('${LOCK}'), true),
    set_config('countersign.${STATEMENT}', current_setting('${STATEMENT}'), true);
    set local ${LOCK} = 0; set local ${STATEMENT} = 0`);
  await terminateIdleBlockers(dataSource, runner, async () => {
    for (const organizationId of [...new Set([...changed, ...shared])].sort()) {
      await runner.query(changed.includes(organizationId) ? TAKE_BARRIER : JOIN_BARRIER, [organizationId]);
    }
  });
  await runner.query(`select set_config('${LOCK}', current_setting('countersign.${LOCK}'), true),
    set_config('${STATEMENT}', current_setting('countersign.${STATEMENT}'), true);
    set local idle_in_transaction_session_timeout = ${SILENT_MS}`);
}

/** How many barriers are tried at once: each is a lock in a table of bounded size. */
const TRIED_AT_ONCE = 500;

/**
 * Waits at the barrier of each organization, or of every one there is: free barriers are only tried, many at once, so that nobody has to
 * wait for this; the others are waited for one after the other.
 */
export async function drainBarriers(dataSource: DataSource, organizations: readonly string[] | 'all'): Promise<void> {
  const ids = organizations === 'all' ? await allOrganizations(dataSource) : [...new Set(organizations)].sort();
  for (let first = 0; first < ids.length; first += TRIED_AT_ONCE) {
    const busy = await dataSource.query<{ id: string }[]>(
      'select id from unnest($1::text[]) as tried(id) where not pg_try_advisory_xact_lock(organization_barrier_v1(id)) order by id',
      [ids.slice(first, first + TRIED_AT_ONCE)],
    );
    for (const { id } of busy) await drainBarrier(dataSource, id);
  }
}

async function allOrganizations(dataSource: DataSource): Promise<string[]> {
  const rows = await dataSource.query<{ id: string }[]>('select id from organizations order by id');
  return rows.map(({ id }) => id);
}

/**
 * Returns when every transaction that judged by the former shared facts has ended. Without a lock timeout, since the caller's answer
 * depends on it; transactions of a frozen server are ended, so this answers within 5 s.
 */
async function drainBarrier(dataSource: DataSource, organizationId: string): Promise<void> {
  await dataSource.transaction(async (manager) => {
    await manager.query('set local lock_timeout = 0');
    await manager.query('set local statement_timeout = 0');
    await terminateIdleBlockers(dataSource, manager.queryRunner!, () =>
      manager.query(TAKE_BARRIER, [organizationId]));
  });
}

function columns(chains: readonly ChainRef[]): [string[], string[]] {
  return [chains.map((chain) => chain.organizationId), chains.map((chain) => chain.chain)];
}

/**
 * Closes the segment of an agent's chain, whose head this transaction has locked, and opens the next segment in another organization with
 * the same position and hash. A head that the chain had there earlier is opened again; its revision only rises, so that no decision of
 * that earlier time counts.
 *
 * @returns position and hash of the closed segment
 */
export async function moveHead(run: RunStatement, from: ChainRef, to: ChainRef): Promise<{ seq: number; hash: string }> {
  const [left] = await run(
    `update audit_heads set closed_at = clock_timestamp(), revision = revision + 1
     where organization_id = $1 and chain = $2 and closed_at is null returning seq, hash`,
    [from.organizationId, from.chain],
  );
  if (!left) throw new Error(`chain ${from.chain} of ${from.organizationId} is not open`);
  const opened = await run(
    `insert into audit_heads as h (organization_id, chain, seq, hash) values ($1, $2, $3, $4)
     on conflict (organization_id, chain) do update
       set seq = excluded.seq, hash = excluded.hash, closed_at = null, revision = h.revision + 1, open_requests = 0
       where h.closed_at is not null
     returning seq`,
    [to.organizationId, to.chain, left.seq, left.hash],
  );
  if (opened.length === 0) throw new Error(`chain ${to.chain} is open in ${to.organizationId} already`);
  return { seq: Number(left.seq), hash: String(left.hash) };
}
