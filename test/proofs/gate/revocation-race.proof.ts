import { as, asRoot, type Client } from '../../support/http/actors.js';
import { anAgent, anAgentKey, type BuiltAgent } from '../../support/builders/agents.js';
import { anOrganization, firstOrganization } from '../../support/builders/people.js';
import { chainCoverage, ChainRace } from '../../support/proofs/chain-race.js';
import type { Proof } from '../../support/proofs/proof.js';
import { done, generator, made, oneOf, pause } from '../../support/proofs/races.js';
import { startServer, type TestServer } from '../../support/servers/server.js';

const AGENTS = 20;
/** Chains of agents, beside the agents that act for themselves. */
const CHAINS = 5;
const CALLS_PER_ROUND = 25;
const CAPABILITY = 'web.search';
const HELD = 'held';
const GRANT = { capability: CAPABILITY, hitlMode: 'auto', conditions: [{ when: `'${HELD}' in agent.tags`, hitlMode: 'block' }] };
const ASKED = { capability: 'email.send', hitlMode: 'propose' };
const WITHDRAWALS = [
  'revoked', 'deactivated', 'blocked', 'asked about', 'retagged', 'transferred', 'its tokens ended', 'its key deleted',
] as const;
type Withdrawal = (typeof WITHDRAWALS)[number];
const WAYS = ['by token', 'by key', 'by a token of its key'] as const;

interface Credentials {
  readonly 'by token': string;
  readonly 'by key': string;
  readonly 'by a token of its key': string;
  readonly keyId: string;
}

interface Raced {
  readonly agent: BuiltAgent;
  /** With the agent's present token. */
  caller: Client;
  /** By what it comes: its token, its key, a token of the key. */
  credentials: Credentials;
  grantId: string;
  /** Where it is, and where it goes when it is transferred. */
  places: readonly [here: string, there: string];
}

interface LoggedEntry {
  readonly organization: string;
  readonly seq: string;
  readonly event: string;
  readonly capability: string | null;
  readonly grantId: string | null;
  readonly hitlMode: string | null;
  readonly direction: string | null;
  readonly tags: string | null;
}

/**
 * Calls of one agent over two servers race with the withdrawal of their authority on one of them. The order that counts is
 * the agent's chain: after the entry of the withdrawal stands no start, until authority is given anew. And so do calls of tasks with the
 * withdrawal of what any agent of the task's chain may do: once it is answered none begins any more.
 */
export const proof: Proof = {
  name: 'revocation-race',
  title: 'Nothing begins after the commit that takes its authority away, on any server.',
  longCount: 2_000,
  needs: 'database',
  run: async ({ count, seed, progress }) => {
    const coverage: Record<string, number> =
      { 'begun before it': 0, 'refused after it': 0, 'requests approved before it': 0, 'approvals refused': 0, ...chainCoverage() };
    for (const way of WAYS) coverage[`begun ${way}`] = 0;
    for (const withdrawal of WITHDRAWALS) coverage[withdrawal] = 0;
    const random = generator(seed);
    const one = await startServer();
    try {
      const other = await startServer({ replicaOf: one });
      try {
        const places = [await firstOrganization(one), await anOrganization(one)] as const;
        const raced: Raced[] = [];
        while (raced.length < AGENTS) raced.push(await prepared(one, places));
        const chains: ChainRace[] = [];
        while (chains.length < CHAINS) chains.push(await ChainRace.prepared([one, other], chains.length * 2));
        let checked = 0;
        let late: string | undefined;
        while (checked < count && late === undefined) {
          const turn = raced.slice(0, count - checked);
          const [found] = await Promise.all([Promise.all(chains.map((chain) => chain.round(random, coverage))), ...turn.map((agent) =>
            round(agent, [one, other], oneOf(WITHDRAWALS, random), random, coverage))]);
          late = found.find((one) => one !== undefined);
          checked += turn.length + chains.length;
          progress(Math.min(checked, count));
        }
        const counterexample = late ?? (await Promise.all(raced.map(({ agent }) => startAfterWithdrawal(one, agent.id))))
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

async function prepared(server: TestServer, places: Raced['places']): Promise<Raced> {
  const agent = await anAgent(server).granted(CAPABILITY, GRANT).granted('email.send', ASKED).create();
  const [grant] = (await asRoot(server).get('/api/v1/capabilities/grants',
    { query: { agentId: agent.id, capability: CAPABILITY } }))
    .list('grants') as { id: string }[];
  return { agent, caller: agent.client, credentials: await keyed(server, agent, agent.token), grantId: grant!.id, places };
}

async function keyed(server: TestServer, agent: Pick<BuiltAgent, 'id'>, token: string): Promise<Credentials> {
  const key = await made(() => anAgentKey(server, agent));
  const exchanged = (await done(() => key.client.post('/api/v1/agents/token'))).expect(200).text('token');
  return { 'by token': token, 'by key': key.secret, 'by a token of its key': exchanged, keyId: key.id };
}

async function round(raced: Raced, servers: readonly TestServer[], withdrawal: Withdrawal, random: () => number,
  coverage: Record<string, number>): Promise<void> {
  const { agent } = raced;
  const root = asRoot(oneOf(servers, random));
  // Of a deleted key the token lives on, and may go on beginning things.
  const ways = withdrawal === 'its key deleted' ? WAYS.slice(1) : WAYS;
  const callers = ways.flatMap((way) => servers.map((server) => ({ way, client: as(server, raced.credentials[way]) })));
  const pending = (await done(() => raced.caller.post('/api/v1/execute', { capability: 'email.send' }))).expect(202)
    .text('hitlRequestId');
  const moment = random() * 25;
  const withdrawn = pause(moment).then(() => withdraw(root, raced, withdrawal));
  const approved = pause(random() * 25).then(() => done(() => asRoot(servers[0]!).post(`/api/v1/hitl/${pending}/approve`)));
  const calls = Array.from({ length: CALLS_PER_ROUND }, async (_, i) => {
    await pause((i / CALLS_PER_ROUND) * 30);
    const { way, client } = callers[i % callers.length]!;
    return { way, ...(await client.post<{ status: unknown }>('/api/v1/execute', { capability: CAPABILITY })) };
  });
  // Awaited together: one that fails must not leave another to fail with nobody listening.
  const [replies, decision] = await Promise.all([Promise.all(calls), approved, withdrawn]);
  coverage[withdrawal]! += 1;
  for (const { way, status, body } of replies) {
    if (status === 200 && body.status === 'executed') {
      coverage['begun before it']! += 1;
      coverage[`begun ${way}`]! += 1;
    } else if (status === 401 || status === 403 || status === 202
      || (status === 200 && body.status === 'blocked')) coverage['refused after it']! += 1;
    // Turned away under load: nothing of it happened, which the walk over the chain checks like everything else.
    else if (status !== 503) throw new Error(`a call was answered ${status}: ${JSON.stringify(body)}`);
  }
  // An approval whose answer was lost under load is asked for again, and finds itself.
  const isApproved = decision.status === 200 || decision.at('request.status') === 'approved';
  if (!isApproved) decision.expect(409);
  coverage[isApproved ? 'requests approved before it' : 'approvals refused']! += 1;
  await restore(servers[0]!, raced, withdrawal);
  await cancelOpen(root, agent.id);
}

async function withdraw(root: Client, { agent, grantId, places, credentials }: Raced, withdrawal: Withdrawal): Promise<void> {
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
    case 'retagged':
      return void (await done(() => root.patch(`/api/v1/agents/${agent.id}`, { tags: [HELD] }))).expect(200);
    case 'its tokens ended':
      return void (await done(() => root.delete(`/api/v1/agents/${agent.id}/tokens`))).expect(204);
    case 'its key deleted':
      return void (await done(() => root.delete(`/api/v1/agents/${agent.id}/keys/${credentials.keyId}`))).expect(204);
    case 'transferred': {
      const organizationId = places[1];
      return void (await done(() => root.post(`/api/v1/agents/${agent.id}/transfer`, { organizationId }))).expect(200);
    }
  }
}

async function restore(server: TestServer, raced: Raced, withdrawal: Withdrawal): Promise<void> {
  const { agent, places: [here, there] } = raced;
  const root = asRoot(server);
  if (withdrawal === 'its key deleted') {
    raced.credentials = await keyed(server, agent, raced.credentials['by token']);
    return;
  }
  if (withdrawal === 'its tokens ended') {
    await vouchedAnew(server, raced);
    return;
  }
  if (withdrawal === 'retagged') {
    (await done(() => root.patch(`/api/v1/agents/${agent.id}`, { tags: [] }))).expect(200);
    return;
  }
  if (withdrawal === 'deactivated') {
    (await done(() => root.post(`/api/v1/agents/${agent.id}/activate`))).expect(200);
    await vouchedAnew(server, raced);
    return;
  }
  const grant = (terms: object) => done(() => root.post('/api/v1/capabilities/grant', { agentId: agent.id, ...terms }));
  const isNew = withdrawal === 'revoked' || withdrawal === 'transferred';
  raced.grantId = (await grant(GRANT)).expect(isNew ? 201 : 200).text('grant.id');
  if (withdrawal !== 'transferred') return;
  raced.places = [there, here];
  (await grant(ASKED)).expect(201);
  await vouchedAnew(server, raced);
}

async function vouchedAnew(server: TestServer, raced: Raced): Promise<void> {
  const token = (await done(() => asRoot(server).post(`/api/v1/agents/${raced.agent.id}/token`))).expect(200).text('token');
  raced.credentials = await keyed(server, raced.agent, token);
  raced.caller = as(server, token);
}

/** What asked a person instead of beginning must not fill the agent's queue. */
async function cancelOpen(root: Client, agentId: string): Promise<void> {
  const open = (await done(() => root.get('/api/v1/hitl', { query: { agentId, status: 'pending' } })))
    .list('requests') as { id: string }[];
  for (const { id } of open) await done(() => root.post(`/api/v1/hitl/${id}/cancel`));
}

/** Walks the agent's chain with nothing but its own words, and finds a start that no authority then stood behind. */
async function startAfterWithdrawal(server: TestServer, agentId: string): Promise<string | undefined> {
  const entries = await server.sql<LoggedEntry>(
    `select organization_id as organization, seq, event, capability, payload::json #>> '{metadata,grantId}' as "grantId",
       payload::json #>> '{metadata,hitlMode}' as "hitlMode", payload::json #>> '{metadata,direction}' as direction,
       (select value ->> 'value' from json_array_elements(disclosures::json) where value ->> 'pointer' = '/metadata/tags') as tags
     from audit_entries where chain = $1 order by seq`, [agentId]);
  const modes = new Map<string, string>();
  let active = true;
  let held = false;
  /** Whether it has any credential by which this proof calls then. */
  let vouched = true;
  let place = entries[0]?.organization;
  for (const { organization, seq, event, capability, grantId, hitlMode, direction, tags } of entries) {
    if (event === 'agent.deactivated') active = false;
    else if (event === 'agent.activated') active = true;
    else if (event === 'agent.tokens_revoked' || event === 'agent.key_deleted') vouched = false;
    else if (event === 'auth.agent_jwt_issued' || event === 'agent.key_created') vouched = true;
    else if (event === 'agent.updated') held = tags?.includes(HELD) ?? held;
    else if (event === 'agent.transferred') place = direction === 'in' ? organization : undefined;
    else if (event === 'capability.granted' || event === 'capability.config_updated') modes.set(grantId!, hitlMode!);
    else if (event === 'capability.revoked') modes.delete(grantId!);
    else if (event === 'execution.started') {
      const mode = modes.get(grantId!);
      if (organization !== place) return `entry ${seq} of ${agentId} starts an execution where the agent is not`;
      if (!active) return `entry ${seq} of ${agentId} starts an execution of a deactivated agent`;
      if (mode === undefined) return `entry ${seq} of ${agentId} starts an execution under the revoked grant ${grantId}`;
      if (held && capability === CAPABILITY) return `entry ${seq} of ${agentId} starts what its tags block`;
      const approved = mode === 'propose'
        && entries.some((other) => Number(other.seq) === Number(seq) - 1 && other.event === 'hitl.approved');
      if (!vouched && !approved) return `entry ${seq} of ${agentId} starts an execution after its credentials were ended`;
      if (mode !== 'auto' && !approved) return `entry ${seq} of ${agentId} starts an execution while the grant says ${mode}`;
    }
  }
  return undefined;
}

async function brokenChain(server: TestServer): Promise<string | undefined> {
  const verdict = (await asRoot(server).get('/api/v1/audit/verify')).expect(200);
  return verdict.at('valid') === true ? undefined : `the log does not verify: ${JSON.stringify(verdict.at('breaks'))}`;
}
