import { asRoot } from '../http/actors.js';
import type { ReceivedRequest } from '../http/receiver.js';
import type { TestServer } from '../servers/server.js';
import type { NodeMemory } from './node-loop.js';

interface Ended extends Record<string, unknown> {
  id: string;
  capability: string;
  status: string;
  runtime: string;
  fence: number;
  error: { code: string } | null;
  work: string | null;
  started: number;
  retried: number;
  closed: number;
  reported: number;
}

/** Each execution with its work and its entries, as the database holds them. */
const ALL = `
  with entries as (
    select e.event, e.payload::json #>> '{metadata,executionId}' as execution_id from audit_entries e where e.event like 'execution.%'),
  counted as (
    select execution_id, count(*) filter (where event = 'execution.started')::integer as started,
      count(*) filter (where event = 'execution.retried')::integer as retried,
      count(*) filter (where event in ('execution.completed', 'execution.failed'))::integer as closed,
      count(*) filter (where event = 'execution.reported')::integer as reported
    from entries group by 1)
  select x.id, x.capability, x.status, x.runtime, x.fence, x.error, w.status as work, coalesce(c.started, 0) as started,
    coalesce(c.retried, 0) as retried, coalesce(c.closed, 0) as closed, coalesce(c.reported, 0) as reported
  from executions x left join counted c on c.execution_id = x.id
  left join node_work w on w.organization_id = x.organization_id and w.execution_id = x.id`;

/**
 * Compares what is written with what the nodes did, what they were told, and what the fallback got.
 *
 * @param idempotent capabilities whose work may be done once for each beginning
 */
export async function nodeAftermath(
  server: TestServer, { acted, taken }: NodeMemory, fallback: readonly ReceivedRequest[], idempotent: readonly string[],
): Promise<{ readonly wrong: readonly string[]; readonly seen: Readonly<Record<string, number>> }> {
  const rows = await server.sql<Ended>(ALL);
  const wrong: string[] = [];
  const seen = {
    executions: rows.length, executed: 0, 'by the fallback': 0, indeterminate: 0, 'nothing done': 0, late: 0, 'done again': 0,
  };
  const known = new Set(rows.map(({ id }) => id));
  for (const id of [...acted.keys(), ...fallback.map(keyOf)]) if (!known.has(id)) wrong.push(`${id} was done, and is no execution`);
  for (const row of rows) {
    const acts = acted.get(row.id) ?? 0;
    const fallen = fallback.filter((request) => keyOf(request) === row.id).length;
    const say = (what: string) => wrong.push(`${what}: ${acts} acts of nodes, ${fallen} of the fallback, ${JSON.stringify(row)}`);
    if (row.status === 'cancelled') {
      if (acts + fallen > 0) say('done without an approval');
      continue;
    }
    if (acts > (idempotent.includes(row.capability) ? row.fence : 1)) say('a node did it too often');
    if (fallen > 1) say('the fallback did it twice');
    if (fallen > 0 && acts > 0) say('done by a node and by the fallback');
    if (fallen > 0 && row.work !== 'withdrawn') say('the fallback took what was not withdrawn');
    if (!['executed', 'failed', 'indeterminate'].includes(row.status)) say('an execution without an end');
    if (row.status === 'executed' && acts + fallen === 0) say('executed by nobody');
    if (row.status === 'failed' && acts + fallen > 0) say('said to have failed, and done');
    if (row.started !== 1 || row.closed !== 1) say('a start without exactly one end');
    if (row.fence !== row.started + row.retried) say('a beginning without its entry');
    if (taken.get(row.id) === false && row.status !== 'executed') say('a result was taken and lost');
    if (taken.get(row.id) === true && row.reported === 0) say('a late result was taken and is not in the log');
    if (row.status === 'executed') seen.executed++;
    if (row.status === 'indeterminate') seen.indeterminate++;
    if (row.error?.code === 'NODE_UNREACHABLE') seen['nothing done']++;
    if (fallen > 0) seen['by the fallback']++;
    if (row.reported > 0) seen.late++;
    if (row.retried > 0) seen['done again']++;
  }
  const verdict = (await asRoot(server).get('/api/v1/audit/verify')).expect(200);
  if (verdict.at('valid') !== true) wrong.push(`the log does not verify: ${JSON.stringify(verdict.at('breaks'))}`);
  return { wrong, seen };
}

const keyOf = ({ headers }: ReceivedRequest): string => String(headers['idempotency-key']);
