import { anAgent, type BuiltAgent } from '../../support/builders/agents.js';
import { defineCapability } from '../../support/builders/gate.js';
import { asRoot, type Client } from '../../support/http/actors.js';
import { type Receiver, startReceiver } from '../../support/http/receiver.js';
import { nodeAftermath } from '../../support/node/node-aftermath.js';
import { MOMENTS, nodeLoop, type NodeMemory } from '../../support/node/node-loop.js';
import type { Proof } from '../../support/proofs/proof.js';
import { done, generator, pause } from '../../support/proofs/races.js';
import { eventually } from '../../support/running/eventually.js';
import { startServer, type TestServer } from '../../support/servers/server.js';

const AGENTS = 3;
const NODES_OF_AN_AGENT = 2;
const AT_ONCE = 24;
/** Of the connectors: longer than a node takes, and short enough that the lost ones end while the proof runs. */
const TIMEOUT_SECONDS = 3;
/** Of all calls: those that people approve, and whose work may be done again. */
const APPROVED = 0.25;
const MORTALITY = 0.06;
/** In a short run, what depends on luck may not come up. */
const ENOUGH_FOR_LUCK = 400;

interface Scenario {
  readonly servers: readonly [TestServer, TestServer];
  readonly agents: readonly BuiltAgent[];
  readonly random: () => number;
  readonly coverage: Record<string, number>;
}

/**
 * Nodes die at every moment of their work, and servers are killed and come back, while calls go on at both. A webhook takes over what
 * nobody has started; of a lease only the grace behind the runtime's deadline is skipped.
 */
export const proof: Proof = {
  name: 'node-crash',
  title: 'Whoever dies, node or server: a node does nothing twice, a fallback nothing that a node has begun, and no result is lost.',
  longCount: 1_000,
  shortCount: 48,
  needs: 'database',
  run: async ({ count, seed, progress }) => {
    const webhook = await startReceiver();
    const env = { RUNTIME_FALLBACK: 'webhook', RUNTIME_WEBHOOK_URL: webhook.url, WEBHOOK_SECRET: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' };
    const one = await startServer({ env });
    try {
      const other = await startServer({ env, replicaOf: one });
      try {
        return await proveOn([one, other], webhook, { count, seed, progress });
      } finally {
        await other.stop();
      }
    } finally {
      await one.stop();
      await webhook.close();
    }
  },
};

async function proveOn(
  servers: readonly [TestServer, TestServer], webhook: Receiver,
  { count, seed, progress }: { count: number; seed: number; progress: (done: number) => void },
) {
  const random = generator(seed);
  const memory: NodeMemory = {
    acted: new Map(), taken: new Map(), died: Object.fromEntries(MOMENTS.map((moment) => [moment, 0])) as NodeMemory['died'],
  };
  const scenario: Scenario = { servers, agents: await prepared(servers[0]), random, coverage: { 'servers killed': 0 } };
  const ending = new AbortController();
  const nodes = scenario.agents.flatMap(({ token }) => Array.from({ length: NODES_OF_AN_AGENT }, () => nodeLoop({
    clients: servers.map((server) => as(server, token)), memory, random, mortality: MORTALITY, end: ending.signal,
  })));
  try {
    // A call at a dead server begins nothing, so that what has begun is counted.
    for (let begun = 0; begun < count; progress(Math.min(count, begun))) {
      await round(scenario, AT_ONCE);
      begun = await executionsOn(servers[0]);
    }
    await settled(scenario);
  } finally {
    ending.abort();
    await Promise.all(nodes);
  }
  const { wrong, seen } = await nodeAftermath(servers[0], memory, webhook.requests, ['press.sync']);
  const coverage: Record<string, number> = { ...scenario.coverage, ...seen };
  for (const moment of MOMENTS) coverage[`died ${moment}`] = memory.died[moment];
  if (count < ENOUGH_FOR_LUCK) for (const [what, times] of Object.entries(coverage)) if (times === 0) delete coverage[what];
  return { checked: seen.executions!, ...(wrong.length > 0 ? { counterexample: wrong[0]! } : {}), coverage };
}

const as = (server: TestServer, token: string): Client => asRoot(server).with({ authorization: `Bearer ${token}` });

async function prepared(server: TestServer): Promise<BuiltAgent[]> {
  await defineCapability(server, 'press.print', { connector: { type: 'node', timeoutSeconds: TIMEOUT_SECONDS } });
  await defineCapability(server, 'press.sync', { connector: { type: 'node', timeoutSeconds: TIMEOUT_SECONDS, idempotent: true } });
  return Promise.all(Array.from({ length: AGENTS }, () =>
    anAgent(server).granted('press.print').granted('press.sync', { hitlMode: 'propose' }).create()));
}

/** Some calls at both servers, of which one dies meanwhile, now and then. */
async function round(scenario: Scenario, count: number): Promise<void> {
  const { servers, random, coverage } = scenario;
  const calls = Array.from({ length: count }, () => call(scenario).catch(() => undefined));
  if (random() < 0.5) {
    const victim = servers[Math.floor(random() * servers.length)]!;
    await pause(random() * 600);
    coverage['servers killed']! += 1;
    await victim.kill();
    await pause(random() * 500);
    await victim.restart().catch(() => victim.restart());
  }
  await Promise.all(calls);
}

async function call({ servers, agents, random }: Scenario): Promise<void> {
  const anyServer = () => servers[Math.floor(random() * servers.length)]!;
  const agent = agents[Math.floor(random() * agents.length)]!;
  const isApproved = random() < APPROVED;
  await pause(random() * 500);
  const body = { capability: isApproved ? 'press.sync' : 'press.print', input: { n: Math.floor(random() * 1e9) } };
  const reply = await as(anyServer(), agent.token).post('/api/v1/execute', body);
  if (reply.status !== 202) return;
  const path = `/api/v1/hitl/${reply.text('hitlRequestId')}/approve`;
  await done(() => asRoot(anyServer()).post(path, {}, { query: { wait: 0 } }));
}

async function executionsOn(server: TestServer): Promise<number> {
  const [row] = await server.sql<{ count: number }>('select count(*)::integer as count from executions');
  return row!.count;
}

/** Until nothing waits any more. A request whose approval was lost with its server is rejected: nothing of it has begun. */
async function settled({ servers: [server] }: Scenario): Promise<void> {
  await eventually(async () => {
    const open = await server.sql<{ id: string }>(`select id from hitl_requests where status = 'pending'`);
    for (const { id } of open) await asRoot(server).post(`/api/v1/hitl/${id}/reject`, { comment: 'lost' });
    // The grace after the deadline, never the deadline.
    await server.sql(`update executions set lease_until = clock_timestamp() - interval '1 second'
      where status = 'running' and lease_until - interval '30 seconds' < clock_timestamp()`);
    const left = await server.sql(`select id, capability, status, fence, lease_until from executions
      where status in ('pending_hitl', 'running')`);
    if (left.length > 0) throw new Error(`${left.length} executions have no end, the first is ${JSON.stringify(left[0])}`);
  }, { within: 120_000, every: 500 });
  await pause(1_000);
}
