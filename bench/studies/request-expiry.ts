import { setTimeout as delay } from 'node:timers/promises';
import { CALLS_PER_SECOND } from './approvals.js';
import { bodyOf } from '../figures.js';
import { percentile, startOpenLoop, type TimedCall } from '../load/open-loop.js';
import { cpuSeconds } from '../processes.js';
import { cell, table, whole } from '../report.js';
import type { Stage } from '../stage.js';
import type { Study, StudyContext } from '../study.js';

/** What the gate does meanwhile, and what waits for people until its time is over. */
const LOAD = 'web.search';
const WAITING = 'email.send';
const DUE = 50_000;
const ASK_AT_ONCE = 16;
/** Until they are due: for the vacuum, for a load that warms up, and for that which is compared with. */
const LEAD_SECONDS = 30;
const BEFORE_SECONDS = 10;
/** The last second before the moment counts for neither. */
const BETWEEN_SECONDS = 1;
const LONGEST_SECONDS = 240;

/** Calls of the gate that were due within a span of the one load. */
interface GateSpan {
  readonly perSecond: number;
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
}

interface SweepMeasured {
  readonly due: number;
  readonly agents: number;
  /** From the moment at which they were due until the last one had ended. */
  readonly seconds: number;
  readonly before: GateSpan;
  readonly meanwhile: GateSpan;
  /** The p99 of the gate's calls beside the sweep, as a multiple of the one before it. */
  readonly p99Ratio: number;
  /** Processor seconds, the gate's calls included. */
  readonly cpu: { readonly server: number; readonly database: number };
  /** The same for the seconds before, to be taken off. */
  readonly cpuBefore: { readonly server: number; readonly database: number };
}

/** 50,000 requests of all agents end by time at one moment, while the gate is called at fixed moments. */
async function measureSweep({ stage, tokens, workFolder, progress }: StudyContext): Promise<SweepMeasured> {
  progress.begin('The sweep of 50,000', 3);
  await askOnceEach(stage, tokens);
  const due = await multiply(stage, tokens.length);
  const at = (await makeDue(stage)).getTime();
  progress.step();
  const until = (seconds: number) => delay(Math.max(0, at - seconds * 1_000 - Date.now()));
  await until(BEFORE_SECONDS + BETWEEN_SECONDS + 5);
  const load = startOpenLoop(workFolder, {
    url: `${stage.governed.url}/api/v1/execute`, tokens, body: bodyOf(LOAD), perSecond: CALLS_PER_SECOND, seconds: LONGEST_SECONDS,
  });
  await until(BEFORE_SECONDS + BETWEEN_SECONDS);
  const spentFirst = spent(stage);
  await until(BETWEEN_SECONDS);
  const cpuBefore = difference(spent(stage), spentFirst);
  progress.step();
  await until(0);
  const spentAt = spent(stage);
  const endedAt = await untilEnded(stage, at);
  const cpu = difference(spent(stage), spentAt);
  load.stop();
  const { each, failed } = await load.result;
  if (Object.keys(failed).length > 0) throw new Error(`sweep: calls of the gate failed: ${JSON.stringify(failed)}`);
  await check(stage, due);
  progress.clear();
  const before = spanOf(each, at - (BEFORE_SECONDS + BETWEEN_SECONDS) * 1_000, at - BETWEEN_SECONDS * 1_000);
  const meanwhile = spanOf(each, at, endedAt);
  const seconds = (endedAt - at) / 1_000;
  return { due, agents: tokens.length, seconds, before, meanwhile, p99Ratio: meanwhile.p99 / before.p99, cpu, cpuBefore };
}

function spanOf(each: readonly TimedCall[], from: number, to: number): GateSpan {
  const times = each.filter(([dueAt]) => dueAt >= from && dueAt < to).map(([, took]) => took).sort((a, b) => a - b);
  // By the answers' moments: what was due but not answered in time shows here.
  const answered = each.filter(([dueAt, took]) => dueAt + took >= from && dueAt + took < to).length;
  return {
    perSecond: (answered * 1_000) / (to - from), p50: percentile(times, 0.5), p95: percentile(times, 0.95), p99: percentile(times, 0.99),
  };
}

function spent({ governed, databasePid }: Stage) {
  return { server: cpuSeconds(governed.pid), database: cpuSeconds(databasePid, true) };
}

function difference(now: ReturnType<typeof spent>, then: ReturnType<typeof spent>) {
  return { server: now.server - then.server, database: now.database - then.database };
}

function sweepText({ due, agents, seconds, before, meanwhile, p99Ratio, cpu, cpuBefore }: SweepMeasured): string {
  const row = (name: string, { perSecond, p50, p95, p99 }: GateSpan) => [name, whole(perSecond), cell(p50), cell(p95), cell(p99)];
  const own = (side: 'server' | 'database') => ((cpu[side] - (cpuBefore[side] * seconds) / BEFORE_SECONDS) / due) * 1e6;
  return [
    '',
    `  ${due.toLocaleString('en')} requests of ${agents.toLocaleString('en')} agents, due at one moment: ended after ` +
      `${seconds.toFixed(1)} s; the gate's p99 meanwhile ${cell(p99Ratio, 2)} ×`,
    '',
    ...table(['', 'gate calls/s', 'p50 ms', 'p95 ms', 'p99 ms'], [row('before', before), row('meanwhile', meanwhile)], false),
    '',
    `  ${CALLS_PER_SECOND} calls of the gate a second, sent at fixed moments; ${BEFORE_SECONDS} s before, and all of the sweep. Each ` +
      'request ended once, with its entry.',
    `  Processor time a request, the calls beside taken off: server ${whole(own('server'))} µs, PostgreSQL ${whole(own('database'))} µs.`,
    '',
  ].join('\n');
}

async function askOnceEach({ governed }: Stage, tokens: readonly string[]): Promise<void> {
  let next = 0;
  const ask = async () => {
    while (next < tokens.length) {
      const response = await fetch(`${governed.url}/api/v1/execute`, {
        method: 'POST',
        headers: { authorization: `Bearer ${tokens[next++]}`, 'content-type': 'application/json' },
        body: bodyOf(WAITING),
      });
      if (response.status !== 202) throw new Error(`sweep: a request was answered ${response.status}: ${await response.text()}`);
      await response.arrayBuffer();
    }
  };
  await Promise.all(Array.from({ length: ASK_AT_ONCE }, ask));
}

/** Copies of one request of each agent, with executions of their own, marked by their nonce. */
async function multiply({ database }: Stage, agents: number): Promise<number> {
  const each = Math.ceil(DUE / agents);
  const columns = async (table: string, own: readonly string[]) => (await database.query<{ name: string }>(
    'select column_name::text as name from information_schema.columns where table_name = $1 and column_name <> all ($2)', [table, own],
  )).rows.map(({ name }) => name);
  const ofRequests = await columns('hitl_requests', ['id', 'execution_id', 'expires_at', 'nonce']);
  const ofExecutions = await columns('executions', ['id', 'hitl_request_id']);
  await database.query('begin');
  await database.query(`create temp table original on commit drop as
    select distinct on (agent_id) * from hitl_requests where capability = $1 and status = 'pending' order by agent_id, id desc`, [WAITING]);
  await database.query(`create temp table copies on commit drop as
    select lpad(n::text, 6, '0') as suffix from generate_series(1, ${each}) n`);
  await database.query(`insert into executions (${ofExecutions.join(', ')}, id, hitl_request_id)
    select ${ofExecutions.map((one) => `e.${one}`).join(', ')}, e.id || c.suffix, o.id || c.suffix
    from original o join executions e on e.organization_id = o.organization_id and e.id = o.execution_id cross join copies c`);
  const { rowCount } = await database.query(`insert into hitl_requests (${ofRequests.join(', ')}, id, execution_id, expires_at, nonce)
    select ${ofRequests.map((one) => `o.${one}`).join(', ')}, o.id || c.suffix, o.execution_id || c.suffix,
      clock_timestamp() + interval '1 day', 'sweep' from original o cross join copies c`);
  await database.query(`update audit_heads h set open_requests = h.open_requests + ${each} from original o
    where h.organization_id = o.organization_id and h.chain = o.agent_id`);
  await database.query('commit');
  return rowCount ?? 0;
}

async function makeDue({ database }: Stage): Promise<Date> {
  const { rows } = await database.query<{ at: Date }>(
    `select date_trunc('milliseconds', clock_timestamp()) + make_interval(secs => ${LEAD_SECONDS}) as at`);
  const { at } = rows[0]!;
  await database.query(`update hitl_requests set expires_at = $1 where nonce = 'sweep'`, [at]);
  await database.query('vacuum analyze hitl_requests');
  await database.query('vacuum analyze executions');
  return at;
}

async function untilEnded({ database }: Stage, at: number): Promise<number> {
  for (;;) {
    await delay(100);
    const { rowCount } = await database.query(
      `select from organizations o cross join lateral (select from hitl_requests q where q.organization_id = o.id
         and q.status in ('pending', 'escalated') and q.expires_at <= $1 limit 1) due limit 1`, [new Date(at)]);
    if (rowCount === 0 && Date.now() > at) return Date.now();
  }
}

async function check({ database }: Stage, due: number): Promise<void> {
  const { rows } = await database.query<{ ended: number; recorded: number }>(
    `select (select count(*)::integer from hitl_requests where nonce = 'sweep' and status = 'timed_out') as ended,
       (select count(*)::integer from audit_entries where event = 'hitl.timed_out') as recorded`);
  const { ended, recorded } = rows[0]!;
  if (ended !== due || recorded !== due) throw new Error(`sweep: ${ended} of ${due} ended, with ${recorded} entries`);
}

export const sweepStudy: Study = {
  key: 'sweep',
  run: async (context) => {
    const measured = await measureSweep(context);
    return { text: sweepText(measured), values: { key: 'sweep', ...measured } };
  },
};
