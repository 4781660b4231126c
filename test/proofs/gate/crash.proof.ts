import { asRoot, type Reply } from '../../support/http/actors.js';
import { anAgent, type BuiltAgent } from '../../support/builders/agents.js';
import { whatIsWrong } from '../../support/proofs/crash-aftermath.js';
import { keepEvents } from '../../support/notifications/kept-events.js';
import { eventually } from '../../support/running/eventually.js';
import { defineCapability, pauseOutbox, resumeOutbox } from '../../support/builders/gate.js';
import type { Proof } from '../../support/proofs/proof.js';
import { done, generator, pause } from '../../support/proofs/races.js';
import { startReceiver, type Receiver } from '../../support/http/receiver.js';
import { startServer, type TestServer } from '../../support/servers/server.js';

const AGENTS = 3;
const FEWEST_KILLS = 3;
/** In a short run, what depends on luck may not come up. */
const KILLS_FOR_LUCK = 20;
/** Of the connectors: longer than their receiver takes. */
const TIMEOUT_SECONDS = 2;
const SLOW_MS = 700;
const WINDOW_SECONDS = 1;

const PUSHED = ['crm.push', 'crm.sync'] as const;
const SWEPT = ['due.reject', 'due.approve', 'due.escalate'] as const;
const MOMENTS = ['between approval and execution', 'during execution', 'during the sweep'] as const;

interface Scenario {
  readonly servers: readonly TestServer[];
  readonly agents: readonly BuiltAgent[];
  readonly receiver: Receiver;
  readonly random: () => number;
  readonly coverage: Record<string, number>;
  /** Requests whose approval was answered with 200. */
  readonly acknowledged: Set<string>;
}

/**
 * Servers are killed at random moments while approved actions wait, run, and time out; the other one goes on, and the dead one comes
 * back. Of a lease only the grace after the runtime's deadline is skipped.
 */
export const proof: Proof = {
  name: 'crash',
  title: 'Whatever moment a server is killed at: every request ends, nothing is called twice, and the log tells of all that was.',
  longCount: 100,
  needs: 'database',
  run: async ({ count, seed, progress }) => {
    const kills = Math.max(count, FEWEST_KILLS);
    const coverage: Record<string, number> = { 'left approved and not begun': 0, 'left running': 0, 'left due': 0, 'both killed': 0 };
    for (const moment of MOMENTS) coverage[moment] = 0;
    const one = await startServer();
    await keepEvents(one);
    const receiver = await startReceiver();
    try {
      const other = await startServer({ replicaOf: one });
      try {
        const scenario = {
          servers: [one, other], agents: await prepared(one, receiver), receiver, random: generator(seed), coverage,
          acknowledged: new Set<string>(),
        };
        for (let kill = 0; kill < kills; kill++) {
          await round(scenario, kill);
          progress(kill + 1);
        }
        await settled(scenario);
        const { wrong, seen } = await whatIsWrong(one, receiver.requests, scenario.acknowledged, ['crm.sync']);
        Object.assign(coverage, seen);
        if (kills < KILLS_FOR_LUCK) for (const [what, times] of Object.entries(coverage)) if (times === 0) delete coverage[what];
        return { checked: kills, counterexample: wrong[0], coverage };
      } finally {
        await other.stop();
      }
    } finally {
      await one.stop();
      await receiver.close();
    }
  },
};

async function prepared(server: TestServer, receiver: Receiver): Promise<BuiltAgent[]> {
  for (const name of [...PUSHED, ...SWEPT]) {
    const connector = { type: 'http', method: 'POST', url: receiver.url, body: '{input}', timeoutSeconds: TIMEOUT_SECONDS };
    await defineCapability(server, name, { connector: { ...connector, idempotent: name === 'crm.sync' } });
  }
  return Promise.all(Array.from({ length: AGENTS }, () => {
    let agent = anAgent(server);
    for (const name of PUSHED) agent = agent.granted(name, { hitlMode: 'propose' });
    for (const name of SWEPT) {
      const hitlTimeoutAction = name.slice('due.'.length);
      agent = agent.granted(name, { hitlMode: 'propose', hitlTimeoutSeconds: WINDOW_SECONDS, hitlTimeoutAction });
    }
    return agent.create();
  }));
}

async function round(scenario: Scenario, kill: number): Promise<void> {
  const { servers, random, coverage } = scenario;
  const moment = MOMENTS[kill % MOMENTS.length]!;
  coverage[moment]! += 1;
  const victim = servers[Math.floor(random() * servers.length)]!;
  const victims = random() < 0.15 ? servers : [victim];
  if (victims.length > 1) coverage['both killed']! += 1;
  const die = () => Promise.all(victims.map((server) => server.kill()));
  if (moment === 'between approval and execution') await beforeItBegins(scenario, victim, die, kill % 2 === 0);
  else if (moment === 'during execution') await whileItRuns(scenario, victim, die);
  else await whileTheyAreDue(scenario, victim, die);
  // On a busy machine one start may take too long; a second try is no part of the claim.
  for (const server of victims) await server.restart().catch(() => server.restart());
}

/** The approvals were answered; what follows them is set free at about the moment of the death. */
async function beforeItBegins(scenario: Scenario, victim: TestServer, die: () => Promise<unknown>, dieFirst: boolean): Promise<void> {
  scenario.receiver.standing({ delayMs: scenario.random() * 100, body: {} });
  const requests = await ask(scenario, victim, PUSHED);
  await pauseOutbox(victim);
  await Promise.all(requests.map((id) => approve(scenario, victim, id)));
  if (!dieFirst) {
    await resumeOutbox(victim);
    await pause(scenario.random() * 40);
  }
  await die();
  scenario.coverage['left approved and not begun']! += await countOf(victim, `executions e join hitl_requests q using (organization_id)
    where q.execution_id = e.id and e.status = 'pending_hitl' and q.status = 'approved'`);
  if (dieFirst) await resumeOutbox(victim);
}

async function whileItRuns(scenario: Scenario, victim: TestServer, die: () => Promise<unknown>): Promise<void> {
  scenario.receiver.standing({ delayMs: SLOW_MS, body: {} });
  const before = scenario.receiver.requests.length;
  const requests = await ask(scenario, victim, PUSHED);
  const approvals = requests.map((id) => approve(scenario, victim, id));
  await eventually(() => {
    if (scenario.receiver.requests.length === before) throw new Error('nothing was called');
  });
  await pause(scenario.random() * SLOW_MS);
  await die();
  scenario.coverage['left running']! += await countOf(victim, `executions where status = 'running'`);
  await Promise.all(approvals);
}

async function whileTheyAreDue(scenario: Scenario, victim: TestServer, die: () => Promise<unknown>): Promise<void> {
  scenario.receiver.standing({ delayMs: scenario.random() * 100, body: {} });
  await ask(scenario, victim, SWEPT);
  await pause(WINDOW_SECONDS * 1_000 + scenario.random() * 500);
  await die();
  scenario.coverage['left due']! += await countOf(victim,
    `hitl_requests where status in ('pending', 'escalated') and expires_at <= clock_timestamp()`);
}

async function ask({ agents }: Scenario, server: TestServer, capabilities: readonly string[]): Promise<string[]> {
  const calls = agents.flatMap(({ token }) => capabilities.map(async (capability) => {
    const client = asRoot(server).with({ authorization: `Bearer ${token}` });
    const input = { n: Math.floor(Math.random() * 1e9) };
    return (await done(() => client.post('/api/v1/execute', { capability, input }))).expect(202).text('hitlRequestId');
  }));
  return Promise.all(calls);
}

/** At a server that may die meanwhile: then nobody knows yet whether it counted. */
async function approve({ acknowledged }: Scenario, server: TestServer, id: string): Promise<void> {
  const call = () => asRoot(server).post(`/api/v1/hitl/${id}/approve`, {}, { query: { wait: 0 } });
  const reply: Reply | undefined = await done(call).catch(() => undefined);
  if (reply?.status === 200) acknowledged.add(id);
}

async function countOf(server: TestServer, what: string): Promise<number> {
  const [row] = await server.sql<{ count: number }>(`select count(*)::integer as count from ${what}`);
  return row!.count;
}

/** Until nothing waits any more. What nobody knows to be approved is approved again, as whoever lost the answer would. */
async function settled(scenario: Scenario): Promise<void> {
  const [server] = scenario.servers as [TestServer, ...TestServer[]];
  await eventually(async () => {
    const open = await server.sql<{ id: string }>(
      `select id from hitl_requests where status in ('pending', 'escalated') and capability = any ($1)`, [PUSHED]);
    for (const { id } of open) await approve(scenario, server, id);
    // The grace after the deadline, never the deadline.
    await server.sql(`update executions set lease_until = clock_timestamp() - interval '1 second'
      where status = 'running' and lease_until - interval '30 seconds' < clock_timestamp()`);
    const left = await server.sql(`select x.id, x.capability, x.status, x.fence, x.lease_until, q.status as request, q.expires_at,
      q.escalation_level as level, (select json_agg(o) from outbox o where payload ->> 'executionId' = x.id) as effects
      from executions x join hitl_requests q on q.execution_id = x.id where x.status in ('pending_hitl', 'running')`);
    if (left.length > 0) throw new Error(`${left.length} executions have no end, the first is ${JSON.stringify(left[0])}`);
  }, { within: 90_000, every: 500 });
  // What they wait for is their last window; two more looks of every worker, and nothing may have come of them.
  await pause(2_500);
}
