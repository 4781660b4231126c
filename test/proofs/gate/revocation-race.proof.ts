import { asRoot, type Client } from '../../support/http/actors.js';
import { anAgent, type BuiltAgent } from '../../support/builders/agents.js';
import { anOrganization, firstOrganization } from '../../support/builders/people.js';
import type { Proof } from '../../support/proofs/proof.js';
import { done, generator, oneOf, pause } from '../../support/proofs/races.js';
import { startServer, type TestServer } from '../../support/servers/server.js';

const AGENTS = 20;
const CALLS_PER_ROUND = 25;
const CAPABILITY = 'web.search';
const HELD = 'held';
const GRANT = { capability: CAPABILITY, hitlMode: 'auto', conditions: [{ when: `'${HELD}' in agent.tags`, hitlMode: 'block' }] };
const ASKED = { capability: 'email.send', hitlMode: 'propose' };
const WITHDRAWALS = ['revoked', 'deactivated', 'blocked', 'asked about', 'retagged', 'transferred'] as const;
type Withdrawal = (typeof WITHDRAWALS)[number];

interface Raced {
  readonly agent: BuiltAgent;
  /** With the agent's present token. */
  caller: Client;
  token: string;
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
        const places = [await firstOrganization(one), await anOrganization(one)] as const;
        const raced: Raced[] = [];
        while (raced.length < AGENTS) raced.push(await prepared(one, places));
        let checked = 0;
        while (checked < count) {
          const turn = raced.slice(0, count - checked);
          await Promise.all(turn.map((agent) =>
            round(agent, [one, other], oneOf(WITHDRAWALS, random), random, coverage)));
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

async function prepared(server: TestServer, places: Raced['places']): Promise<Raced> {
  const agent = await anAgent(server).granted(CAPABILITY, GRANT).granted('email.send', ASKED).create();
  const [grant] = (await asRoot(server).get('/api/v1/capabilities/grants',
    { query: { agentId: agent.id, capability: CAPABILITY } }))
    .list('grants') as { id: string }[];
  return { agent, caller: agent.client, token: agent.token, grantId: grant!.id, places };
}

async function round(raced: Raced, servers: readonly TestServer[], withdrawal: Withdrawal, random: () => number,
  coverage: Record<string, number>): Promise<void> {
  const { agent } = raced;
  const root = asRoot(oneOf(servers, random));
  const callers = servers.map((server) => asRoot(server).with({ authorization: `Bearer ${raced.token}` }));
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
    else if (status === 401 || status === 403 || status === 202
      || (status === 200 && body.status === 'blocked')) coverage['refused after it']! += 1;
    // Turned away under load: nothing of it happened, which the walk over the chain checks like everything else.
    else if (status !== 503) throw new Error(`a call was answered ${status}: ${JSON.stringify(body)}`);
  }
  // An approval whose answer was lost under load is asked for again, and finds itself.
  const isApproved = decision.status === 200 || decision.at('request.status') === 'approved';
  if (!isApproved) decision.expect(409);
  coverage[isApproved ? 'requests approved before it' : 'approvals refused']! += 1;
  await restore(root, raced, withdrawal);
  await cancelOpen(root, agent.id);
}

async function withdraw(root: Client, { agent, grantId, places }: Raced, withdrawal: Withdrawal): Promise<void> {
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
    case 'transferred': {
      const organizationId = places[1];
      return void (await done(() => root.post(`/api/v1/agents/${agent.id}/transfer`, { organizationId }))).expect(200);
    }
  }
}

async function restore(root: Client, raced: Raced, withdrawal: Withdrawal): Promise<void> {
  const { agent, places: [here, there] } = raced;
  if (withdrawal === 'retagged') {
    (await done(() => root.patch(`/api/v1/agents/${agent.id}`, { tags: [] }))).expect(200);
    return;
  }
  if (withdrawal === 'deactivated') {
    (await done(() => root.post(`/api/v1/agents/${agent.id}/activate`))).expect(200);
    await vouchedAnew(root, raced);
    return;
  }
  const grant = (terms: object) => done(() => root.post('/api/v1/capabilities/grant', { agentId: agent.id, ...terms }));
  const isNew = withdrawal === 'revoked' || withdrawal === 'transferred';
  raced.grantId = (await grant(GRANT)).expect(isNew ? 201 : 200).text('grant.id');
  if (withdrawal !== 'transferred') return;
  raced.places = [there, here];
  (await grant(ASKED)).expect(201);
  await vouchedAnew(root, raced);
}

async function vouchedAnew(root: Client, raced: Raced): Promise<void> {
  raced.token = (await done(() => root.post(`/api/v1/agents/${raced.agent.id}/token`))).expect(200).text('token');
  raced.caller = raced.caller.with({ authorization: `Bearer ${raced.token}` });
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
  let place = entries[0]?.organization;
  for (const { organization, seq, event, capability, grantId, hitlMode, direction, tags } of entries) {
    if (event === 'agent.deactivated') active = false;
    else if (event === 'agent.activated') active = true;
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
      if (mode !== 'auto' && !approved) return `entry ${seq} of ${agentId} starts an execution while the grant says ${mode}`;
    }
  }
  return undefined;
}

async function brokenChain(server: TestServer): Promise<string | undefined> {
  const verdict = (await asRoot(server).get('/api/v1/audit/verify')).expect(200);
  return verdict.at('valid') === true ? undefined : `the log does not verify: ${JSON.stringify(verdict.at('breaks'))}`;
}
