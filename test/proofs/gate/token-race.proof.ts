import { anonymous, asAgent, asRoot, type Reply } from '../../support/http/actors.js';
import { anAgent } from '../../support/builders/agents.js';
import type { Proof } from '../../support/proofs/proof.js';
import { done, generator, oneOf, pause } from '../../support/proofs/races.js';
import { startServer, type TestServer } from '../../support/servers/server.js';

const AGENTS = 10;
const REFRESHES = 5;
const ACTIVATIONS = 3;
const CAPABILITY = 'web.search';
const WITHDRAWALS = ['tokens ended', 'deactivated'] as const;
type Withdrawal = (typeof WITHDRAWALS)[number];

interface Raced {
  readonly id: string;
  token: string;
}

interface Race {
  readonly servers: readonly TestServer[];
  readonly random: () => number;
  readonly coverage: Record<string, number>;
}

/**
 * Refreshes and activations of one agent, over two servers, race with the end of its tokens on one of them. Whatever was given
 * out, before, during or after: once the revocation has answered, no server takes it, and nothing new is given for it.
 */
export const proof: Proof = {
  name: 'token-race',
  title: 'No token that was refreshed or activated beside a revocation outlives its answer, on any server.',
  longCount: 500,
  needs: 'database',
  run: async ({ count, seed, progress }) => {
    const coverage: Record<string, number> = {
      'tokens ended': 0, deactivated: 0, 'refreshed before it': 0, 'not refreshed': 0, 'activated before it': 0, 'not activated': 0,
    };
    const random = generator(seed);
    const one = await startServer();
    try {
      const other = await startServer({ replicaOf: one });
      try {
        const raced: Raced[] = [];
        while (raced.length < AGENTS) raced.push(await anAgent(one).granted(CAPABILITY).create());
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

async function round(agent: Raced, withdrawal: Withdrawal, { servers, random, coverage }: Race): Promise<string | undefined> {
  const root = asRoot(oneOf(servers, random));
  const setups = await Promise.all(Array.from({ length: ACTIVATIONS + 1 }, async () =>
    (await done(() => root.post(`/api/v1/agents/${agent.id}/setup-token`))).expect(201).text('setupToken')));
  const kept = setups.pop()!;
  const refresh = (token: string, at: TestServer) => done(() => asAgent(at, token).post(`/api/v1/agents/${agent.id}/token/refresh`));
  const activate = (token: string, at: TestServer) => done(() => anonymous(at).post('/api/v1/node/activate', { token, nodeId: 'racer' }));

  const withdrawn = pause(random() * 25).then(() => withdraw(root, agent, withdrawal));
  // The first comes at once and the last after the answer; those between race.
  const turnOf = (i: number, of: number) => (i === of - 1 ? withdrawn : pause(i === 0 ? 0 : random() * 35));
  const refreshed = Array.from({ length: REFRESHES }, async (_, i) => {
    await turnOf(i, REFRESHES);
    return refresh(agent.token, servers[i % servers.length]!);
  });
  const activated = setups.map(async (token, i) => {
    await turnOf(i, ACTIVATIONS);
    return activate(token, servers[i % servers.length]!);
  });
  // Awaited together: one that fails must not leave another to fail with nobody listening.
  const [refreshes, activations] = await Promise.all([Promise.all(refreshed), Promise.all(activated), withdrawn]);
  coverage[withdrawal]! += 1;
  const given = [agent.token];
  for (const [answers, before, after] of [
    [refreshes, 'refreshed before it', 'not refreshed'], [activations, 'activated before it', 'not activated'],
  ] as const) {
    for (const answer of answers) {
      if (answer.status === 200) given.push(answer.text('token'));
      else refusedBy(answer);
      coverage[answer.status === 200 ? before : after]! += 1;
    }
  }
  const alive = await takenBySomebody(given, servers, refresh);
  if (alive !== undefined) return `after ${withdrawal}: ${alive}`;
  if ((await activate(kept, oneOf(servers, random))).status === 200) return `after ${withdrawal}: a setup token of before was redeemed`;
  if (withdrawal === 'deactivated') {
    (await done(() => root.post(`/api/v1/agents/${agent.id}/activate`))).expect(200);
    const revived = await takenBySomebody(given, servers, refresh);
    if (revived !== undefined) return `in service again: ${revived}`;
    if ((await activate(kept, oneOf(servers, random))).status === 200) return 'in service again: a setup token of before was redeemed';
  }
  agent.token = (await done(() => root.post(`/api/v1/agents/${agent.id}/token`))).expect(200).text('token');
  return undefined;
}

async function withdraw(root: ReturnType<typeof asRoot>, { id }: Raced, withdrawal: Withdrawal): Promise<void> {
  if (withdrawal === 'deactivated') (await done(() => root.post(`/api/v1/agents/${id}/deactivate`))).expect(200);
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
