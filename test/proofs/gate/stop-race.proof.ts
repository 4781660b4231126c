import { asRoot, type Client } from '../../support/http/actors.js';
import { anAgent, type BuiltAgent } from '../../support/builders/agents.js';
import { anOrganization } from '../../support/builders/people.js';
import type { Proof } from '../../support/proofs/proof.js';
import { done, generator, pause } from '../../support/proofs/races.js';
import { startServer, type TestServer } from '../../support/servers/server.js';
import { EXECUTE } from '../../support/http/paths.js';

const ORGANIZATIONS = 3;
const AGENTS_EACH = 2;
const CALLS_PER_AGENT = 10;
const STOPS = '/api/v1/stops';
const SCOPES = ['agent', 'organization', 'all'] as const;
type StopScope = (typeof SCOPES)[number];

interface Racer {
  readonly agent: BuiltAgent;
  readonly organizationId: string;
  /** The agent's token at each server. */
  readonly callers: readonly Client[];
}

/**
 * Calls and approvals over two servers race with a stop made on one of them. When its answer is there, whatever has begun has
 * begun: until the stop is lifted no execution starts in its scope, and none is finished as a receipt.
 */
export const proof: Proof = {
  name: 'stop-race',
  title: 'Nothing begins in the scope of a stop after its answer, on any server.',
  longCount: 400,
  needs: 'database',
  run: async ({ count, seed, progress }) => {
    const coverage: Record<string, number> = {
      agent: 0, organization: 0, all: 0, 'begun before it': 0, 'refused after it': 0, 'went on beside it': 0,
      'requests approved before it': 0, 'approvals refused': 0,
    };
    const random = generator(seed);
    const one = await startServer();
    try {
      const other = await startServer({ replicaOf: one });
      try {
        const servers = [one, other];
        const racers = await prepared(one, servers);
        let checked = 0;
        let counterexample: string | undefined;
        while (checked < count && counterexample === undefined) {
          // Every scope has its turn in every few rounds, at random moments.
          counterexample = await round(servers, racers, SCOPES[checked % SCOPES.length]!, random, coverage);
          checked++;
          progress(checked);
        }
        counterexample ??= (await startWhileStopped(one, racers)) ?? (await brokenChain(one));
        return { checked, counterexample, coverage };
      } finally {
        await other.stop();
      }
    } finally {
      await one.stop();
    }
  },
};

async function prepared(server: TestServer, servers: readonly TestServer[]): Promise<Racer[]> {
  const organizations = await Promise.all(Array.from({ length: ORGANIZATIONS }, () => anOrganization(server)));
  return Promise.all(organizations.flatMap((organizationId) => Array.from({ length: AGENTS_EACH }, async () => {
    const agent = await anAgent(server).inOrganization(organizationId).granted('web.search').granted('email.send', { hitlMode: 'propose' })
      .create();
    const callers = servers.map((replica) => asRoot(replica).with({ authorization: `Bearer ${agent.token}` }));
    return { agent, organizationId, callers };
  })));
}

async function round(servers: readonly TestServer[], racers: readonly Racer[], scope: StopScope, random: () => number,
  coverage: Record<string, number>): Promise<string | undefined> {
  const [first] = servers as [TestServer, ...TestServer[]];
  const root = asRoot(servers[Math.floor(random() * servers.length)]!);
  const target = racers[Math.floor(random() * racers.length)]!;
  const held = racers.filter(({ agent, organizationId }) =>
    scope === 'all' || (scope === 'agent' ? agent.id === target.agent.id : organizationId === target.organizationId));
  const pending = await Promise.all(racers.map(async ({ callers }) =>
    (await done(() => callers[0]!.post(EXECUTE, { capability: 'email.send' }))).expect(202).text('hitlRequestId')));

  const id = { agent: target.agent.id, organization: target.organizationId, all: undefined }[scope];
  const stopped = pause(random() * 25).then(async () => {
    const made = (await done(() => root.post(STOPS, { scope, id, reason: 'a race' }))).expect(201).text('stop.id');
    const atTheAnswer = await startsOf(first, held);
    for (const caller of target.callers) (await done(() => caller.post(EXECUTE, { capability: 'web.search' }))).expect(403, 'STOPPED');
    return { made, atTheAnswer };
  });
  // One is approved when the stop has been answered, the others at any time.
  const approvals = pending.map((request, i) => (racers[i] === target ? stopped : pause(random() * 40)).then(() =>
    done(() => asRoot(servers[i % servers.length]!).post(`/api/v1/hitl/${request}/approve`))));
  const calls = racers.flatMap(({ agent, callers }) => Array.from({ length: CALLS_PER_AGENT }, async (_, i) => {
    await pause((i / CALLS_PER_AGENT) * 60);
    const { status } = await callers[i % callers.length]!.post(EXECUTE, { capability: 'web.search' });
    return { agentId: agent.id, status };
  }));
  // Awaited together: one that fails must not leave another to fail with nobody listening.
  const [{ made, atTheAnswer }, decisions, answers] = await Promise.all([stopped, Promise.all(approvals), Promise.all(calls)]);
  const later = await startsOf(first, held);

  coverage[scope]! += 1;
  coverage['refused after it']! += target.callers.length;
  const ofHeld = new Set(held.map(({ agent }) => agent.id));
  for (const { agentId, status } of answers) {
    if (status === 200) coverage[ofHeld.has(agentId) ? 'begun before it' : 'went on beside it']! += 1;
    else if (status === 403) coverage['refused after it']! += 1;
    // Turned away under load: nothing of it happened, which the comparison checks like everything else.
    else if (status !== 503) throw new Error(`a call was answered ${status}`);
  }
  for (const decision of decisions) {
    if (decision.status !== 200) decision.expect(403, 'STOPPED');
    coverage[decision.status === 200 ? 'requests approved before it' : 'approvals refused']! += 1;
  }
  (await done(() => root.delete(`${STOPS}/${made}`))).expect(204);
  for (const [i, request] of pending.entries()) {
    if (decisions[i]!.status !== 200) (await done(() => asRoot(first).post(`/api/v1/hitl/${request}/cancel`))).expect(200);
  }
  if (later === atTheAnswer) return undefined;
  return `a stop of ${scope} (${made}) was answered after ${atTheAnswer} starts; then there were ${later}`;
}

async function startsOf(server: TestServer, held: readonly Racer[]): Promise<string> {
  const [row] = await server.sql<{ count: string }>(
    `select count(*) from audit_entries where event = 'execution.started' and chain = any ($1)`,
    [held.map(({ agent }) => agent.id)]);
  return row!.count;
}

/** For stops of agents the chain itself is the order that counts: it is walked with nothing but its own words. */
async function startWhileStopped(server: TestServer, racers: readonly Racer[]): Promise<string | undefined> {
  for (const { agent } of racers) {
    const entries = await server.sql<{ seq: string; event: string }>('select seq, event from audit_entries where chain = $1 order by seq',
      [agent.id]);
    let stops = 0;
    for (const { seq, event } of entries) {
      if (event === 'admin.stop_started') stops++;
      else if (event === 'admin.stop_ended') stops--;
      else if (event === 'execution.started' && stops > 0) return `entry ${seq} of ${agent.id} starts an execution of a stopped agent`;
    }
  }
  return undefined;
}

async function brokenChain(server: TestServer): Promise<string | undefined> {
  const verdict = (await asRoot(server).get('/api/v1/audit/verify')).expect(200);
  return verdict.at('valid') === true ? undefined : `the log does not verify: ${JSON.stringify(verdict.at('breaks'))}`;
}
