// A large backlog of requests that wait for people, put into the database past the API.
import { newId } from '../../src/domain/ids.js';
import type { Stage } from '../stage.js';

const CHUNK = 20_000;
const CAPABILITY = 'bench.backlog';
const HOUR_MS = 3_600_000;

/**
 * Requests as the gate makes them, each with its execution and with its news in the outbox, spread over agents of their own,
 * over a day of asking and a day until their time is over. Then what autovacuum would do by itself.
 */
export async function insertPending(
  stage: Stage, count: number, agents: readonly string[], progress: (done: number) => void,
): Promise<void> {
  const { database } = stage;
  const begin = Date.now() - 24 * HOUR_MS;
  for (let done = 0; done < count; done += CHUNK) {
    const size = Math.min(CHUNK, count - done);
    const times = Array.from({ length: size }, (_, i) => begin + ((done + i) * 24 * HOUR_MS) / count);
    const requests = times.map((time) => newId('hitl', Math.floor(time)));
    const executions = times.map((time) => newId('exec', Math.floor(time)));
    const asking = times.map((_, i) => agents[(done + i) % agents.length]!);
    await database.query(INSERT, [requests, executions, asking, times.map((time) => new Date(time)), CAPABILITY]);
    progress(done + size);
  }
  // The heads count what is open.
  await database.query(
    `update audit_heads h set open_requests = h.open_requests + opened.count
     from (select organization_id, agent_id, count(*)::integer as count from hitl_requests where capability = $1 group by 1, 2) opened
     where h.organization_id = opened.organization_id and h.chain = opened.agent_id`,
    [CAPABILITY],
  );
  for (const name of ['hitl_requests', 'executions', 'outbox', 'audit_heads']) await database.query(`vacuum (analyze) ${name}`);
  await stage.checkpoint();
}

// All but what names them is taken from a request that the gate has made.
const INSERT = `
  with picked as materialized (select q as request from hitl_requests q where q.capability = 'email.send' order by q.id limit 1),
  made as (
    select p.request, found.execution from picked p cross join lateral (
      select e as execution from executions e
      where e.organization_id = (p.request).organization_id and e.id = (p.request).execution_id limit 1) found),
  wanted as (
    select * from unnest($1::text[], $2::text[], $3::text[], $4::timestamptz[]) as w(id, execution_id, agent_id, created_at)),
  requests as (
    insert into hitl_requests
    select row.* from made, wanted w
    cross join lateral json_populate_record(made.request, json_build_object(
      'id', w.id, 'execution_id', w.execution_id, 'agent_id', w.agent_id, 'created_by', w.agent_id, 'capability', $5::text,
      'created_at', w.created_at, 'expires_at', w.created_at + interval '49 hours')) row
    returning organization_id, id),
  executions as (
    insert into executions
    select row.* from made, wanted w
    cross join lateral json_populate_record(made.execution, json_build_object(
      'id', w.execution_id, 'hitl_request_id', w.id, 'agent_id', w.agent_id, 'requested_by', w.agent_id, 'capability', $5::text,
      'created_at', w.created_at)) row)
  insert into outbox (organization_id, kind, payload, created_at, available_at)
  select r.organization_id, 'notification.send', json_build_object('event', 'hitl.request.created', 'hitlRequestId', r.id),
    clock_timestamp(), clock_timestamp()
  from requests r`;
