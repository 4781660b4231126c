import { setTimeout as delay } from 'node:timers/promises';
import { bodyOf } from './figures.js';
import type { LoadResult } from './load-generator.js';
import { median } from './measure.js';
import type { Stage } from './stage.js';
import type { Study, StudyContext } from './study.js';

/** What the gate does meanwhile, and what waits for people until its time is over. */
const LOAD = 'web.search';
const WAITING = 'email.send';
const DUE = 50_000;
/** A stretch of load; those that lie within the sweep count. */
const STRETCH_SECONDS = 2;
const STRETCHES_BEFORE = 5;
const ASK_AT_ONCE = 16;
/** Until they are due: for the vacuum, and for a load that has warmed up. */
const LEAD_SECONDS = 12;

interface SweepMeasured {
  readonly due: number;
  readonly agents: number;
  /** From the moment at which they were due until the last one had ended. */
  readonly seconds: number;
  readonly before: readonly LoadResult[];
  readonly meanwhile: readonly LoadResult[];
  /** The median p99 of the gate's calls beside the sweep, as a multiple of the one before it. */
  readonly p99Ratio: number;
}

/** 50,000 requests of all agents end by time at one moment, while the gate is under load. */
async function measureSweep({ stage, tokens, load, options, progress }: StudyContext): Promise<SweepMeasured> {
  progress.begin('The sweep of 50,000', STRETCHES_BEFORE + 5);
  await askOnceEach(stage, tokens);
  const due = await multiply(stage, tokens.length);
  const stretch = async () => {
    const order = { url: `${stage.governed.url}/api/v1/execute`, tokens, body: bodyOf(LOAD), connections: options.connections };
    const result = await load.run({ ...order, seconds: STRETCH_SECONDS });
    if (result.failed > 0) throw new Error(`sweep: ${result.failed} calls of the gate failed`);
    progress.step();
    return result;
  };
  await stretch();
  const before: LoadResult[] = [];
  while (before.length < STRETCHES_BEFORE) before.push(await stretch());
  const at = await makeDue(stage);
  while (Date.now() < at.getTime() - STRETCH_SECONDS * 1_000) await delay(20);
  let endedAt: number | undefined;
  const ending = untilEnded(stage, at).then((time) => (endedAt = time));
  const meanwhile: LoadResult[] = [];
  await stretch();
  while (endedAt === undefined) {
    const result = await stretch();
    if (endedAt === undefined || meanwhile.length === 0) meanwhile.push(result);
  }
  await ending;
  await check(stage, due);
  progress.clear();
  const p99 = (results: readonly LoadResult[]) => median(results.map((one) => one.p99));
  const seconds = (endedAt - at.getTime()) / 1_000;
  return { due, agents: tokens.length, seconds, before, meanwhile, p99Ratio: p99(meanwhile) / p99(before) };
}

function sweepText({ due, agents, seconds, before, meanwhile, p99Ratio }: SweepMeasured): string {
  const row = (name: string, results: readonly LoadResult[]) => {
    const of = (read: (one: LoadResult) => number) => median(results.map(read));
    const [rate, p50, p99] = [of((one) => one.requestsPerSecond), of((one) => one.p50), of((one) => one.p99)];
    const perSecond = Math.round(rate).toLocaleString('en').padStart(7);
    return `    ${name.padEnd(18)} ${perSecond}/s   p50 ${p50.toFixed(1)} ms   p99 ${p99.toFixed(1)} ms`;
  };
  return [
    '',
    `  ${due.toLocaleString('en')} requests of ${agents.toLocaleString('en')} agents, due at one moment: ended after ` +
      `${seconds.toFixed(1)} s; the gate's p99 meanwhile ${p99Ratio.toFixed(2)} ×`,
    '',
    row('gate before', before),
    row('gate meanwhile', meanwhile),
    `  ${before.length} and ${meanwhile.length} stretches of ${STRETCH_SECONDS} s; medians. Each request ended once, with its entry.`,
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

async function untilEnded({ database }: Stage, at: Date): Promise<number> {
  for (;;) {
    await delay(100);
    const { rowCount } = await database.query(
      `select from organizations o cross join lateral (select from hitl_requests q where q.organization_id = o.id
         and q.status in ('pending', 'escalated') and q.expires_at <= $1 limit 1) due limit 1`, [at]);
    if (rowCount === 0 && Date.now() > at.getTime()) return Date.now();
  }
}

async function check({ database }: Stage, due: number): Promise<void> {
  const { rows } = await database.query<{ ended: number; told: number }>(
    `select (select count(*)::integer from hitl_requests where nonce = 'sweep' and status = 'timed_out') as ended,
       (select count(*)::integer from audit_entries where event = 'hitl.timed_out') as told`);
  const { ended, told } = rows[0]!;
  if (ended !== due || told !== due) throw new Error(`sweep: ${ended} of ${due} ended, with ${told} entries`);
}

export const sweepStudy: Study = {
  key: 'sweep',
  run: async (context) => {
    const measured = await measureSweep(context);
    return { text: sweepText(measured), values: { key: 'sweep', ...measured } };
  },
};
