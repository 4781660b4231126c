import { randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { anAgent, type BuiltAgent } from '../../support/builders/agents.js';
import { aPerson } from '../../support/builders/people.js';
import { type Answer, type Receiver, startReceiver } from '../../support/http/receiver.js';
import { keepEvents } from '../../support/notifications/kept-events.js';
import type { Proof } from '../../support/proofs/proof.js';
import { done, generator, pause } from '../../support/proofs/races.js';
import { eventually } from '../../support/running/eventually.js';
import { back, startServer, type TestServer } from '../../support/servers/server.js';

const AGENTS = 3;
/** Requests that are asked around each kill. */
const ASKED = 8;
const SECRET = `whsec_${randomBytes(24).toString('base64')}`;
/** Deliveries whose lease is over come back: the wait for that is skipped, and nothing else. */
const LEASE_IS_SKIPPED = `update notification_deliveries set available_at = clock_timestamp() where state = 'waiting'`;

interface Scenario {
  readonly servers: readonly TestServer[];
  readonly agents: readonly BuiltAgent[];
  readonly receiver: Receiver;
  readonly random: () => number;
  readonly coverage: Record<string, number>;
}

/** Servers are killed while they record events and deliver them, to a receiver that is slow, refuses and resets by chance. */
export const proof: Proof = {
  name: 'deliveries',
  title: 'Whatever moment a server is killed at: every event reaches its receiver at least once, the same event under the same id.',
  longCount: 50,
  shortCount: 3,
  needs: 'database',
  run: async ({ count, seed, progress }) => {
    const coverage = { 'left unrecorded': 0, 'left in delivery': 0, 'delivered again': 0 };
    const receiver = await startReceiver();
    const env = { HITL_WEBHOOK_URL: receiver.url, WEBHOOK_SECRET: SECRET };
    const one = await startServer({ env });
    try {
      await keepEvents(one);
      await aPerson(one, 'admin');
      const other = await startServer({ replicaOf: one, env });
      try {
        const agents = await Promise.all(Array.from({ length: AGENTS }, () =>
          anAgent(one).granted('email.send', { hitlMode: 'propose' }).granted('calendar.write', { hitlMode: 'notify' }).create()));
        const scenario: Scenario = { servers: [one, other], agents, receiver, random: generator(seed), coverage };
        receiver.standing(() => byChance(scenario.random));
        for (let kill = 0; kill < count; kill++) {
          await round(scenario, env);
          progress(kill + 1);
        }
        receiver.standing({ status: 204 });
        const counterexample = await whatIsMissing(one, receiver, coverage);
        // In a short run, what depends on luck may not come up.
        const met = count < 10 ? Object.fromEntries(Object.entries(coverage).filter(([, times]) => times > 0)) : coverage;
        return { checked: count, ...(counterexample === undefined ? {} : { counterexample }), coverage: met };
      } finally {
        await other.stop();
      }
    } finally {
      await one.stop();
      await receiver.close();
    }
  },
};

function byChance(random: () => number): Answer {
  const luck = random();
  if (luck < 0.1) return { status: 503 };
  if (luck < 0.15) return { reset: true };
  return { status: 204, delayMs: random() * 120 };
}

async function round({ servers, agents, random, coverage }: Scenario, env: Record<string, string>): Promise<void> {
  const victim = servers[Math.floor(random() * servers.length)]!;
  const calls = Array.from({ length: ASKED }, (_, n) => {
    const { client } = agents[n % agents.length]!;
    const capability = n % 4 === 3 ? 'calendar.write' : 'email.send';
    return done(() => client.post('/api/v1/execute', { capability, input: { n } })).catch(() => undefined);
  });
  await pause(random() * 150);
  await victim.kill();
  coverage['left unrecorded']! += await countOf(victim, `outbox where kind = 'notification.send'`);
  coverage['left in delivery']! += await countOf(victim, `notification_deliveries where state = 'waiting' and attempts > 0`);
  await Promise.all(calls);
  await back(victim, env);
  await victim.sql(LEASE_IS_SKIPPED);
}

async function countOf(server: TestServer, what: string): Promise<number> {
  const [row] = await server.sql<{ count: number }>(`select count(*)::integer as count from ${what}`);
  return row!.count;
}

/** What the database kept of each event, against what arrived. */
async function whatIsMissing(server: TestServer, receiver: Receiver, coverage: Record<string, number>): Promise<string | undefined> {
  await eventually(async () => {
    await server.sql(LEASE_IS_SKIPPED);
    const left = await countOf(server, `outbox where kind = 'notification.send'`)
      + await countOf(server, `notification_deliveries where state = 'waiting'`);
    if (left > 0) throw new Error(`${left} events or deliveries have no end`);
  }, { within: 90_000, every: 500 });
  const verifier = new Webhook(SECRET);
  const arrived = receiver.requests.map(({ body, headers }) => {
    verifier.verify(body, headers as Record<string, string>);
    const { event, hitl_request_id: request, execution_id: execution } = JSON.parse(body) as Record<string, string>;
    return { id: String(headers['webhook-id']), about: `${event} ${request ?? execution}` };
  });
  const kept = await server.sql<{ about: string }>(
    `select payload ->> 'event' || ' ' || coalesce(payload ->> 'hitlRequestId', payload ->> 'executionId') as about from kept_events`);
  const reached = new Set(arrived.map(({ about }) => about));
  const lost = kept.filter(({ about }) => !reached.has(about));
  if (lost.length > 0) return `${lost.length} of ${kept.length} events did not arrive, the first is ${lost[0]!.about}`;
  const ids = new Map<string, string>();
  for (const { id, about } of arrived) {
    if ((ids.get(about) ?? id) !== id) return `${about} arrived as ${ids.get(about)} and as ${id}`;
    if (ids.has(about)) coverage['delivered again']! += 1;
    ids.set(about, id);
  }
  return undefined;
}
