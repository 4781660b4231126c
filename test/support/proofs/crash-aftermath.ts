import { asRoot } from '../http/actors.js';
import type { ReceivedRequest } from '../http/receiver.js';
import type { TestServer } from '../servers/server.js';

interface Ended extends Record<string, unknown> {
  id: string;
  capability: string;
  status: string;
  request_status: string;
  request_id: string;
  fence: number;
  started: number;
  retried: number;
  closed: number;
  cancelled: number;
  decided: number;
  notified: number;
}

/** What was seen of each kind, and every sentence that is not true. */
export interface Aftermath {
  readonly wrong: string[];
  readonly seen: Readonly<Record<string, number>>;
}

/** Each execution with its request and the entries and news of both, as the database holds them. */
const ALL = `
  with entries as (
    select e.event, e.payload::json #>> '{metadata,executionId}' as execution_id, e.payload::json #>> '{metadata,hitlId}' as hitl_id,
      e.payload::json #>> '{metadata,action}' as action
    from audit_entries e where e.event like 'execution.%' or e.event like 'hitl.%'),
  of_execution as (
    select execution_id, count(*) filter (where event = 'execution.started')::integer as started,
      count(*) filter (where event = 'execution.retried')::integer as retried,
      count(*) filter (where event in ('execution.completed', 'execution.failed'))::integer as closed,
      count(*) filter (where event = 'execution.cancelled')::integer as cancelled
    from entries where execution_id is not null group by 1),
  of_request as (
    select hitl_id, count(*) filter (where event in ('hitl.approved', 'hitl.rejected', 'hitl.cancelled')
      or event = 'hitl.timed_out' and action in ('reject', 'notify_only'))::integer as decided
    from entries where event like 'hitl.%' group by 1),
  news as (
    select payload ->> 'executionId' as execution_id, count(*)::integer as notified from kept_events
    where payload ->> 'event' = 'execution.indeterminate' group by 1)
  select x.id, x.capability, x.status, x.fence, q.id as request_id, q.status as request_status, coalesce(e.started, 0) as started,
    coalesce(e.retried, 0) as retried, coalesce(e.closed, 0) as closed, coalesce(e.cancelled, 0) as cancelled,
    coalesce(r.decided, 0) as decided, coalesce(n.notified, 0) as notified
  from executions x
  join hitl_requests q on q.organization_id = x.organization_id and q.execution_id = x.id
  left join of_execution e on e.execution_id = x.id
  left join of_request r on r.hitl_id = q.id
  left join news n on n.execution_id = x.id`;

/**
 * Compares what servers that were killed left behind with what their receiver got.
 *
 * @param acknowledged requests whose approval was answered with 200
 * @param idempotent capabilities whose calls may be made again with the same key
 */
export async function whatIsWrong(server: TestServer, received: readonly ReceivedRequest[], acknowledged: ReadonlySet<string>,
  idempotent: readonly string[]): Promise<Aftermath> {
  const rows = await server.sql<Ended>(ALL);
  const wrong: string[] = [];
  const seen: Record<string, number> = { executed: 0, indeterminate: 0, retried: 0, 'ended by time': 0 };
  const receipts = new Map<string, ReceivedRequest[]>();
  for (const request of received) {
    const key = String(request.headers['idempotency-key']);
    receipts.set(key, [...(receipts.get(key) ?? []), request]);
  }
  const known = new Set(rows.map(({ id }) => id));
  for (const key of receipts.keys()) if (!known.has(key)) wrong.push(`the receiver was called with ${key}, which is no execution`);
  for (const row of rows) {
    const calls = receipts.get(row.id) ?? [];
    const say = (what: string) => wrong.push(`${what}: ${calls.length} calls, ${JSON.stringify(row)}`);
    if (row.status in seen) seen[row.status]! += 1;
    if (row.retried > 0) seen.retried! += 1;
    if (row.request_status === 'timed_out') seen['ended by time']! += 1;
    if (!['executed', 'failed', 'indeterminate', 'cancelled'].includes(row.status)) say('an execution without an end');
    if (!['approved', 'timed_out'].includes(row.request_status)) say('a request without its end');
    if (acknowledged.has(row.request_id) && row.request_status !== 'approved') say('an acknowledged approval was lost');
    if (row.decided !== 1) say(`${row.decided} final entries of one request`);
    if (row.request_status !== 'approved' && row.started > 0) say('begun without an approval');
    if (calls.length > 0 && row.started !== 1) say('called without a start in the log');
    if (calls.length > (idempotent.includes(row.capability) ? row.retried + 1 : 1)) say('called too often');
    if (new Set(calls.map(({ body }) => body)).size > 1) say('called with different bodies');
    if (row.status === 'executed' && calls.length === 0) say('executed without a call');
    if (row.started > 1 || row.closed !== row.started) say('a start without exactly one end');
    if (row.started === 0 && !['cancelled'].includes(row.status)) say('ended without a start');
    if (row.retried > 0 && !idempotent.includes(row.capability)) say('repeated, though not declared idempotent');
    if (row.fence !== row.started + row.retried) say('a beginning without its entry');
    if (row.notified !== (row.status === 'indeterminate' ? 1 : 0)) say('people are told otherwise');
  }
  const verdict = (await asRoot(server).get('/api/v1/audit/verify')).expect(200);
  if (verdict.at('valid') !== true) wrong.push(`the log does not verify: ${JSON.stringify(verdict.at('breaks'))}`);
  return { wrong, seen: { requests: rows.length, calls: received.length, ...seen } };
}
