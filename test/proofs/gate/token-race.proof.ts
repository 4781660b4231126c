import { anonymous, asAgent, asRoot, type Reply } from '../../support/http/actors.js';
import { anAgent, anAgentKey, type BuiltAgentKey } from '../../support/builders/agents.js';
import type { Proof } from '../../support/proofs/proof.js';
import { done, generator, made, oneOf, pause } from '../../support/proofs/races.js';
import { startServer, type TestServer } from '../../support/servers/server.js';

const AGENTS = 10;
const REFRESHES = 5;
const EXCHANGES = 4;
const ACTIVATIONS = 3;
const EXCHANGE = '/api/v1/agents/token';
const CAPABILITY = 'web.search';
const WITHDRAWALS = ['tokens ended', 'deactivated', 'key deleted'] as const;
type Withdrawal = (typeof WITHDRAWALS)[number];

interface Raced {
  readonly id: string;
  token: string;
  key: BuiltAgentKey;
  /** For which the key was exchanged. */
  ofKey: string;
}

interface Race {
  readonly servers: readonly TestServer[];
  readonly random: () => number;
  readonly coverage: Record<string, number>;
}

/**
 * Refreshes, activations and exchanges of one agent, over two servers, race on one of them with the end of its tokens and keys, or of a
 * key and its tokens alone. Whatever was given out, before, during or after: once the revocation has answered, no server takes it, and
 * nothing new is given for it.
 */
export const proof: Proof = {
  name: 'token-race',
  title: 'No token that was refreshed, activated or exchanged beside a revocation outlives its answer, on any server.',
  longCount: 500,
  needs: 'database',
  run: async ({ count, seed, progress }) => {
    const coverage: Record<string, number> = {
      'tokens ended': 0, deactivated: 0, 'key deleted': 0, 'refreshed before it': 0, 'not refreshed': 0,
      'activated before it': 0, 'not activated': 0, 'exchanged before it': 0, 'not exchanged': 0,
    };
    const random = generator(seed);
    const one = await startServer();
    try {
      const other = await startServer({ replicaOf: one });
      try {
        const raced: Raced[] = [];
        while (raced.length < AGENTS) {
          const agent = await anAgent(one).granted(CAPABILITY).create();
          raced.push({ id: agent.id, token: agent.token, ...(await keyed(one, agent)) });
        }
        let checked = 0;
        let counterexample: string | undefined;
        while (checked < count && counterexample === undefined) {
          const turn = raced.slice(0, count - checked);
          const race = { servers: [one, other], random, coverage };
          const found = await Promise.all(turn.map((agent) => round(agent, oneOf(WITHDRAWALS, random), race)));
          counterexample = found.find((broken) => broken !== undefined);
          checked += turn.length;
          progress(checked);
        }
        return { checked, counterexample, coverage };
      } finally {
        await other.stop();
      }
    } finally {
      await one.stop();
    }
  },
};

async function keyed(server: TestServer, agent: Pick<Raced, 'id'>): Promise<Pick<Raced, 'key' | 'ofKey'>> {
  const key = await made(() => anAgentKey(server, agent));
  return { key, ofKey: (await done(() => key.client.post(EXCHANGE))).expect(200).text('token') };
}

async function round(agent: Raced, withdrawal: Withdrawal, { servers, random, coverage }: Race): Promise<string | undefined> {
  const root = asRoot(oneOf(servers, random));
  const setups = await Promise.all(Array.from({ length: ACTIVATIONS + 1 }, async () =>
    (await done(() => root.post(`/api/v1/agents/${agent.id}/setup-token`))).expect(201).text('setupToken')));
  const kept = setups.pop()!;
  const refresh = (token: string, at: TestServer) => done(() => asAgent(at, token).post(`/api/v1/agents/${agent.id}/token/refresh`));
  const exchange = (at: TestServer) => done(() => asAgent(at, agent.key.secret).post(EXCHANGE));
  const activate = (token: string, at: TestServer) => done(() => anonymous(at).post('/api/v1/node/activate', { token, nodeId: 'racer' }));

  // With a key nothing ends but what came of it.
  const isKeyAlone = withdrawal === 'key deleted';
  const refreshing = isKeyAlone ? agent.ofKey : agent.token;
  const withdrawn = pause(random() * 25).then(() => withdraw(root, agent, withdrawal));
  // The first comes at once and the last after the answer; those between race.
  const turnOf = (i: number, of: number) => (i === of - 1 ? withdrawn : pause(i === 0 ? 0 : random() * 35));
  const refreshed = Array.from({ length: REFRESHES }, async (_, i) => {
    await turnOf(i, REFRESHES);
    return refresh(refreshing, servers[i % servers.length]!);
  });
  const exchanged = Array.from({ length: EXCHANGES }, async (_, i) => {
    await turnOf(i, EXCHANGES);
    return exchange(servers[i % servers.length]!);
  });
  const activated = setups.map(async (token, i) => {
    await turnOf(i, ACTIVATIONS);
    return activate(token, servers[i % servers.length]!);
  });
  // Awaited together: one that fails must not leave another to fail with nobody listening.
  const [refreshes, exchanges, activations] =
    await Promise.all([Promise.all(refreshed), Promise.all(exchanged), Promise.all(activated), withdrawn]);
  coverage[withdrawal]! += 1;
  const given = [refreshing, agent.ofKey, agent.key.secret];
  for (const [answers, before, after] of [
    [refreshes, 'refreshed before it', 'not refreshed'], [exchanges, 'exchanged before it', 'not exchanged'],
    [activations, 'activated before it', 'not activated'],
  ] as const) {
    if (isKeyAlone && answers === activations) continue;
    for (const answer of answers) {
      if (answer.status === 200) given.push(answer.text('token'));
      else refusedBy(answer);
      coverage[answer.status === 200 ? before : after]! += 1;
    }
  }
  const alive = await takenBySomebody(given, servers, refresh);
  if (alive !== undefined) return `after ${withdrawal}: ${alive}`;
  if (!isKeyAlone && (await activate(kept, oneOf(servers, random))).status === 200) {
    return `after ${withdrawal}: a setup token of before was redeemed`;
  }
  if (withdrawal === 'deactivated') {
    (await done(() => root.post(`/api/v1/agents/${agent.id}/activate`))).expect(200);
    const revived = await takenBySomebody(given, servers, refresh);
    if (revived !== undefined) return `in service again: ${revived}`;
    if ((await activate(kept, oneOf(servers, random))).status === 200) return 'in service again: a setup token of before was redeemed';
  }
  agent.token = (await done(() => root.post(`/api/v1/agents/${agent.id}/token`))).expect(200).text('token');
  Object.assign(agent, await keyed(servers[0]!, agent));
  return undefined;
}

async function withdraw(root: ReturnType<typeof asRoot>, { id, key }: Raced, withdrawal: Withdrawal): Promise<void> {
  if (withdrawal === 'key deleted') (await done(() => root.delete(`/api/v1/agents/${id}/keys/${key.id}`))).expect(204);
  else if (withdrawal === 'deactivated') (await done(() => root.post(`/api/v1/agents/${id}/deactivate`))).expect(200);
  else (await done(() => root.delete(`/api/v1/agents/${id}/tokens`))).expect(204);
}

async function takenBySomebody(tokens: readonly string[], servers: readonly TestServer[],
  refresh: (token: string, at: TestServer) => Promise<Reply>): Promise<string | undefined> {
  const calls: readonly (readonly [string, (at: TestServer, token: string) => Promise<Reply>])[] = [
    ['read', (at, token) => done(() => asAgent(at, token).get('/api/v1/agents'))],
    ['execute', (at, token) => done(() => asAgent(at, token).post('/api/v1/execute', { capability: CAPABILITY }))],
    ['refresh', (at, token) => refresh(token, at)],
  ];
  const found = await Promise.all(tokens.flatMap((token, n) => servers.flatMap((at, i) => calls.map(async ([what, call]) => {
    const answer = await call(at, token);
    if (answer.status !== 200) return void refusedBy(answer);
    return `token ${n} of ${tokens.length} was good enough on server ${i + 1} to ${what}`;
  }))));
  return found.find((one) => one !== undefined);
}

function refusedBy(answer: Reply): void {
  if (answer.status === 401) answer.expect(401, 'UNAUTHENTICATED');
  else answer.expect(403, 'AGENT_INACTIVE');
}
