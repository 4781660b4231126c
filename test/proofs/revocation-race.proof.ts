import { asRoot, type Client, type Reply } from '../support/actors.js';
import { anAgent, type BuiltAgent } from '../support/builders.js';
import type { Proof } from '../support/proof.js';
import { generator } from '../support/random.js';
import { startServer, type TestServer } from '../support/server.js';

const AGENTS = 20;
const CALLS_PER_ROUND = 25;
const CAPABILITY = 'web.search';
const WITHDRAWALS = ['revoked', 'deactivated', 'blocked', 'asked about'] as const;
type Withdrawal = (typeof WITHDRAWALS)[number];

interface Raced {
  readonly agent: BuiltAgent;
  /** With the agent's present token. */
  caller: Client;
  grantId: string;
}

interface LoggedEntry {
  readonly seq: string;
  readonly event: string;
  readonly grantId: string | null;
  readonly hitlMode: string | null;
}

/**
 * Calls of one agent over two servers race with the withdrawal of their authority on one of them. The order that counts is
 * the agent's chain: after the entry of the withdrawal stands no start, until authority is given anew.
 */
export const proof: Proof = {
  name: 'revocation-race',
  title: 'Nothing begins after the commit that takes its authority away, on any server.',
  longCount: 2_000,
  needs: 'database',
  run: async ({ count, seed, progress }) => {
    const coverage: Record<string, number> =
      { 'begun before it': 0, 'refused after it': 0, 'requests approved before it': 0, 'approvals refused': 0 };
    for (const withdrawal of WITHDRAWALS) coverage[withdrawal] = 0;
    const random = generator(seed);
    const one = await startServer();
    try {
      const other = await startServer({ replicaOf: one });
      try {
        const raced = await Promise.all(Array.from({ length: AGENTS }, () => prepared(one)));
        let checked = 0;
        while (checked < count) {
          const turn = raced.slice(0, count - checked);
          await Promise.all(turn.map((agent) =>
            round(agent, [one, other], WITHDRAWALS[Math.floor(random() * WITHDRAWALS.length)]!, random, coverage)));
          checked += turn.length;
          progress(checked);
        }
        const counterexample = (await Promise.all(raced.map(({ agent }) => startAfterWithdrawal(one, agent.id))))
          .find((found) => found !== undefined)
          ?? (await brokenChain(one));
        return { checked, counterexample, coverage };
      } finally {
        await other.stop();
      }
    } finally {
      await one.stop();
    }
  },
};

async function prepared(server: TestServer): Promise<Raced> {
  const agent = await anAgent(server).granted(CAPABILITY).granted('email.send', { hitlMode: 'propose' }).create();
  const [grant] = (await asRoot(server).get('/api/v1/capabilities/grants',
    { query: { agentId: agent.id, capability: CAPABILITY } }))
    .list('grants') as { id: string }[];
  return { agent, caller: agent.client, grantId: grant!.id };
}

async function round(raced: Raced, servers: readonly TestServer[], withdrawal: Withdrawal, random: () => number,
  coverage: Record<string, number>): Promise<void> {
  const { agent } = raced;
  const root = asRoot(servers[Math.floor(random() * servers.length)]!);
  const callers = servers.map((server) => asRoot(server).with({ authorization: authorizationOf(raced) }));
  const pending = (await done(() => raced.caller.post('/api/v1/execute', { capability: 'email.send' }))).expect(202)
    .text('hitlRequestId');
  const moment = random() * 25;
  const withdrawn = pause(moment).then(() => withdraw(root, raced, withdrawal));
  const approved = pause(random() * 25).then(() => done(() => asRoot(servers[0]!).post(`/api/v1/hitl/${pending}/approve`)));
  const calls = Array.from({ length: CALLS_PER_ROUND }, async (_, i) => {
    await pause((i / CALLS_PER_ROUND) * 30);
    return callers[i % callers.length]!.post<{ status: unknown }>('/api/v1/execute', { capability: CAPABILITY });
  });
  // Awaited together: one that fails must not leave another to fail with nobody listening.
  const [replies, decision] = await Promise.all([Promise.all(calls), approved, withdrawn]);
  coverage[withdrawal]! += 1;
  for (const { status, body } of replies) {
    if (status === 200 && body.status === 'executed') coverage['begun before it']! += 1;
    else if (status === 403 || status === 202
      || (status === 200 && body.status === 'blocked')) coverage['refused after it']! += 1;
    // Turned away under load: nothing of it happened, which the walk over the chain checks like everything else.
    else if (status !== 503) throw new Error(`a call was answered ${status}: ${JSON.stringify(body)}`);
  }
  if (decision.status !== 200) decision.expect(409, 'NOT_EXECUTABLE');
  coverage[decision.status === 200 ? 'requests approved before it' : 'approvals refused']! += 1;
  await restore(root, raced, withdrawal);
  await cancelOpen(root, agent.id);
}

async function withdraw(root: Client, { agent, grantId }: Raced, withdrawal: Withdrawal): Promise<void> {
  const grant = `/api/v1/agents/${agent.id}/capabilities/${CAPABILITY}`;
  switch (withdrawal) {
    case 'revoked':
      return void (await done(() => root.delete(`/api/v1/capabilities/grant/${grantId}`))).expect(204);
    case 'deactivated':
      return void (await done(() => root.post(`/api/v1/agents/${agent.id}/deactivate`))).expect(200);
    case 'blocked':
      return void (await done(() => root.patch(grant, { hitlMode: 'block' }))).expect(200);
    case 'asked about':
      return void (await done(() => root.patch(grant, { hitlMode: 'propose' }))).expect(200);
  }
}

async function restore(root: Client, raced: Raced, withdrawal: Withdrawal): Promise<void> {
  const { agent } = raced;
  if (withdrawal === 'deactivated') {
    (await done(() => root.post(`/api/v1/agents/${agent.id}/activate`))).expect(200);
    const token = (await done(() => root.post(`/api/v1/agents/${agent.id}/token`))).expect(200).text('token');
    raced.caller = raced.caller.with({ authorization: `Bearer ${token}` });
    tokens.set(agent.id, token);
    return;
  }
  const granted = await done(() =>
    root.post('/api/v1/capabilities/grant', { agentId: agent.id, capability: CAPABILITY, hitlMode: 'auto' }));
  raced.grantId = granted.expect(withdrawal === 'revoked' ? 201 : 200).text('grant.id');
}

const tokens = new Map<string, string>();
const authorizationOf = ({ agent }: Raced): string => `Bearer ${tokens.get(agent.id) ?? agent.token}`;

/** What asked a person instead of beginning must not fill the agent's queue. */
async function cancelOpen(root: Client, agentId: string): Promise<void> {
  const open = (await done(() => root.get('/api/v1/hitl', { query: { agentId, status: 'pending' } })))
    .list('requests') as { id: string }[];
  for (const { id } of open) await done(() => root.post(`/api/v1/hitl/${id}/cancel`));
}

/** Walks the agent's chain with nothing but its own words, and finds a start that no authority then stood behind. */
async function startAfterWithdrawal(server: TestServer, agentId: string): Promise<string | undefined> {
  const entries = await server.sql<LoggedEntry>(
    `select seq, event, payload::json #>> '{metadata,grantId}' as "grantId", payload::json #>> '{metadata,hitlMode}' as "hitlMode"
     from audit_entries where chain = $1 order by seq`, [agentId]);
  const modes = new Map<string, string>();
  let active = true;
  for (const { seq, event, grantId, hitlMode } of entries) {
    if (event === 'agent.deactivated') active = false;
    else if (event === 'agent.activated') active = true;
    else if (event === 'capability.granted' || event === 'capability.config_updated') modes.set(grantId!, hitlMode!);
    else if (event === 'capability.revoked') modes.delete(grantId!);
    else if (event === 'execution.started') {
      const mode = modes.get(grantId!);
      if (!active) return `entry ${seq} of ${agentId} starts an execution of a deactivated agent`;
      if (mode === undefined) return `entry ${seq} of ${agentId} starts an execution under the revoked grant ${grantId}`;
      const approved = mode === 'propose'
        && entries.some((other) => Number(other.seq) === Number(seq) - 1 && other.event === 'hitl.approved');
      if (mode !== 'auto' && !approved) return `entry ${seq} of ${agentId} starts an execution while the grant says ${mode}`;
    }
  }
  return undefined;
}

async function brokenChain(server: TestServer): Promise<string | undefined> {
  const verdict = (await asRoot(server).get('/api/v1/audit/verify')).expect(200);
  return verdict.at('valid') === true ? undefined : `the log does not verify: ${JSON.stringify(verdict.at('breaks'))}`;
}

/** What is turned away under load (503) is asked for again. */
async function done(call: () => Promise<Reply>): Promise<Reply> {
  for (let attempt = 0; ; attempt++) {
    const reply = await call();
    if (reply.status !== 503 || attempt === 20) return reply;
    await pause(100);
  }
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
