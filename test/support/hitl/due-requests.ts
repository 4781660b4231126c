import pg from 'pg';
import { expect } from '@jest/globals';
import { eventually } from '../running/eventually.js';
import { requestOf, type SeenRequest } from '../builders/gate.js';
import type { TestServer } from '../servers/server.js';

/** The locks of expiry-schedule.service.ts, one for each partition: who holds them keeps every server from expiring requests. */
const PARTITION_LOCKS = [715_517_004, 715_517_005];

/** Does `then` while no server sweeps: between the end of a window and the sweep time stands still. */
export async function withoutSweeper<Result>(server: TestServer, then: () => Promise<Result>): Promise<Result> {
  const holder = new pg.Client({ connectionString: server.database.url });
  await holder.connect();
  try {
    for (const lock of PARTITION_LOCKS) await holder.query('select pg_advisory_lock($1)', [lock]);
    return await then();
  } finally {
    await holder.end();
  }
}

/** The window of these requests is over now. What else is said of their rows stands with it. */
export async function makeDue(server: TestServer, ids: readonly string[], row: Readonly<Record<string, unknown>> = {}): Promise<void> {
  const columns = Object.keys(row);
  const more = columns.map((column, i) => `, ${column} = $${i + 2}`).join('');
  await server.sql(`update hitl_requests set expires_at = clock_timestamp()${more} where id = any ($1)`,
    [ids, ...columns.map((column) => row[column])]);
}

/** The request, once the sweep has been at it. */
export function sweptTo(server: TestServer, id: string, status: string): Promise<SeenRequest> {
  return eventually(async () => {
    const request = await requestOf(server, id);
    expect(request.status).toBe(status);
    return request;
  }, { every: 100 });
}

/**
 * As many open requests of an agent, all due, as copies of one that the gate made. Each has an execution of its own; the agent's
 * count of open requests says so too.
 */
export async function manyDue(server: TestServer, request: string, count: number): Promise<void> {
  const columnsOf = async (table: string, own: readonly string[]) => (await server.sql<{ name: string }>(
    'select column_name::text as name from information_schema.columns where table_name = $1 and column_name <> all ($2)',
    [table, own])).map(({ name }) => name).join(', ');
  const ofRequests = await columnsOf('hitl_requests', ['id', 'execution_id', 'expires_at']);
  const ofExecutions = await columnsOf('executions', ['id', 'hitl_request_id']);
  await server.sql(`with original as (select * from hitl_requests where id = $1),
    copies as (select n, lpad(n::text, 6, '0') as suffix from generate_series(1, $2::integer) as n),
    executed as (
      insert into executions (${ofExecutions}, id, hitl_request_id)
      select ${ofExecutions.split(', ').map((one) => `e.${one}`).join(', ')}, e.id || c.suffix, $1 || c.suffix
      from executions e, copies c where e.hitl_request_id = $1),
    counted as (update audit_heads h set open_requests = h.open_requests + $2::integer from original o
      where h.organization_id = o.organization_id and h.chain = o.agent_id)
    insert into hitl_requests (${ofRequests}, id, execution_id, expires_at)
    select ${ofRequests.split(', ').map((one) => `o.${one}`).join(', ')}, o.id || c.suffix, o.execution_id || c.suffix, clock_timestamp()
    from original o, copies c`, [request, count]);
}
