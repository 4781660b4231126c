import { anAgent, type BuiltAgent } from '../../support/builders/agents.js';
import { verification } from '../../support/erasure/erasures.js';
import { asAgent, asRoot } from '../../support/http/actors.js';
import { startModelProvider, type ModelProvider } from '../../support/llm/model-provider.js';
import { postedStream } from '../../support/llm/posted-stream.js';
import { says } from '../../support/llm/vendor-answers.js';
import type { Proof } from '../../support/proofs/proof.js';
import { done, generator, pause } from '../../support/proofs/races.js';
import { eventually } from '../../support/running/eventually.js';
import { startServer, type TestServer } from '../../support/servers/server.js';

const AT_ONCE = 16;
const LLM = '/api/v1/llm';

interface Scenario {
  readonly servers: readonly [TestServer, TestServer];
  readonly agents: Readonly<Record<'auto' | 'propose', BuiltAgent>>;
  readonly random: () => number;
  /** Answers that clients have got to their end. */
  readonly coverage: Record<'whole answers' | 'whole streams' | 'approved', number>;
}

/** Servers are killed and come back while calls to models go on at both: whole ones, streams, and calls that people approve. */
export const proof: Proof = {
  name: 'llm-crash',
  title: 'Whichever server dies, each call to a model is closed, none is indeterminate, and no answer was whole without its entry.',
  longCount: 50,
  shortCount: 2,
  needs: 'database',
  run: async ({ count, seed, progress }) => {
    const provider = await startModelProvider();
    const one = await startServer({ env: provider.env });
    try {
      const other = await startServer({ env: provider.env, replicaOf: one });
      try {
        return await proveOn([one, other], provider, { count, seed, progress });
      } finally {
        await other.stop();
      }
    } finally {
      await one.stop();
      await provider.close();
    }
  },
};

async function proveOn(
  servers: readonly [TestServer, TestServer], provider: ModelProvider,
  { count, seed, progress }: { count: number; seed: number; progress: (done: number) => void },
) {
  const random = generator(seed);
  provider.standing(async (request, response) => {
    await pause(random() * 400);
    await says({ text: 'an answer of some words', everyMs: random() * 30 })(request, response);
  });
  const granted = (hitlMode: string) => anAgent(servers[0]).granted('llm:invoke', { hitlMode }).create();
  const scenario: Scenario = {
    servers, random, agents: { auto: await granted('auto'), propose: await granted('propose') },
    coverage: { 'whole answers': 0, 'whole streams': 0, approved: 0 },
  };
  for (let kills = 0; kills < count; progress(kills)) {
    const calls = Array.from({ length: AT_ONCE }, () => call(scenario).catch(() => undefined));
    const victim = servers[Math.floor(random() * servers.length)]!;
    await pause(100 + random() * 600);
    await Promise.race([underWay(victim), Promise.all(calls)]);
    await victim.kill();
    kills++;
    await pause(random() * 300);
    await victim.restart().catch(() => victim.restart());
    await Promise.all(calls);
  }
  await settled(scenario);
  const { wrong, seen } = await aftermath(scenario);
  return { checked: count, ...(wrong[0] === undefined ? {} : { counterexample: wrong[0] }), coverage: { ...scenario.coverage, ...seen } };
}

/** Until some calls run: on a busy machine none has got so far by itself. */
async function underWay(server: TestServer): Promise<void> {
  await eventually(async () => {
    const [row] = await server.sql<{ count: number }>(`select count(*)::integer as count from executions where status = 'running'`);
    if (row!.count < 4) throw new Error(`${row!.count} calls run`);
  }, { within: 10_000, every: 20 }).catch(() => undefined);
}

async function call({ servers, agents, random, coverage }: Scenario): Promise<void> {
  const anyServer = () => servers[Math.floor(random() * servers.length)]!;
  const server = anyServer();
  const body = { model: 'gpt-test', messages: [{ role: 'user', content: `call ${random()}` }] };
  await pause(random() * 500);
  const kind = random();
  if (kind < 0.4) {
    const { status } = await asAgent(server, agents.auto.token).post(`${LLM}/chat/completions`, body);
    if (status === 200) coverage['whole answers']++;
  } else if (kind < 0.8) {
    const text = await postedStream(server, agents.auto, 'chat/completions', body);
    if (text.endsWith('data: [DONE]\n\n')) coverage['whole streams']++;
  } else {
    const asked = await asAgent(server, agents.propose.token).post(`${LLM}/chat`, body);
    if (asked.status !== 202) return;
    await done(() => asRoot(anyServer()).post(`/api/v1/hitl/${asked.text('hitlRequestId')}/approve`));
    coverage.approved++;
  }
}

/** Until nothing waits any more. A request whose approval was lost with its server is rejected: nothing of it has begun. */
async function settled({ servers: [server] }: Scenario): Promise<void> {
  await eventually(async () => {
    const open = await server.sql<{ id: string }>(`select id from hitl_requests where status = 'pending'`);
    for (const { id } of open) await asRoot(server).post(`/api/v1/hitl/${id}/reject`, { comment: 'lost' });
    // The time of calls is a minute or two; that their servers died has passed by then.
    await server.sql(`update executions set lease_until = clock_timestamp() - interval '1 second'
      where status = 'running' and created_at < clock_timestamp() - interval '3 seconds'`);
    const left = await server.sql(`select id, status from executions where status in ('pending_hitl', 'running')`);
    if (left.length > 0) throw new Error(`${left.length} executions have no end, the first is ${JSON.stringify(left[0])}`);
  }, { within: 120_000, every: 500 });
}

interface Ended extends Record<string, unknown> {
  readonly id: string;
  readonly status: string;
  readonly code: string | null;
  readonly closed: number;
  readonly requests: number;
  readonly hitl_request_id: string | null;
}

async function aftermath({ servers: [server], coverage }: Scenario): Promise<{ wrong: string[]; seen: Record<string, number> }> {
  const rows = await server.sql<Ended>(`
    select x.id, x.status, x.hitl_request_id, x.error ->> 'code' as code,
      (select count(*)::integer from audit_entries e where e.event in ('execution.completed', 'execution.failed')
        and e.payload::json #>> '{metadata,executionId}' = x.id) as closed,
      (select count(*)::integer from audit_entries e where e.event = 'llm.request'
        and e.payload::json #>> '{metadata,executionId}' = x.id) as requests
    from executions x where x.capability = 'llm:invoke'`);
  const wrong: string[] = [];
  for (const row of rows) {
    const isOver = row.status === 'executed' || row.status === 'failed' || row.status === 'cancelled';
    if (!isOver) wrong.push(`it has no end that a call may have: ${JSON.stringify(row)}`);
    if (row.status !== 'cancelled' && row.closed !== 1) wrong.push(`it was closed ${row.closed} times: ${JSON.stringify(row)}`);
    const isTold = row.status === 'executed' || row.code === 'SERVER_ENDED';
    if (isTold && row.requests !== 1) wrong.push(`the log tells of ${row.requests} calls: ${JSON.stringify(row)}`);
  }
  const executed = rows.filter(({ status, hitl_request_id: asked }) => status === 'executed' && asked === null).length;
  const answered = coverage['whole answers'] + coverage['whole streams'];
  if (answered > executed) wrong.push(`${answered} answers were whole, and ${executed} calls are in the log as executed`);
  const { valid, breaks } = await verification(server);
  if (!valid) wrong.push(`the log does not verify: ${JSON.stringify(breaks[0])}`);
  const ended = rows.filter(({ code }) => code === 'SERVER_ENDED').length;
  return { wrong, seen: { executions: rows.length, executed, 'cut off by a server\'s end': ended } };
}
