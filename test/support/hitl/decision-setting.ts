import { afterAll, beforeAll, beforeEach, expect } from '@jest/globals';
import { asAgent, asRoot, type Client, type Reply } from '../http/actors.js';
import { auditOf } from '../log/entries.js';
import { anAgent, type BuiltAgent } from '../builders/agents.js';
import { executionOf, requestOf } from '../builders/gate.js';
import { anOrganization, aPerson, type BuiltPerson, type PersonTerms, type Role } from '../builders/people.js';
import { startReceiver, type Receiver } from '../http/receiver.js';
import { startServer, type TestServer } from '../servers/server.js';
import { EXECUTE } from '../http/paths.js';

export const CAPABILITY = 'email.send';

export let server: TestServer;
export let root: Client;
export let receiver: Receiver;

// Each test has an organization of its own: how many people are there is part of the rules. The other one is never behind anything.
export let organizationId: string;
export let other: BuiltPerson;

export const person = (role: Role, terms: PersonTerms = {}) => aPerson(server, role, { organizationId, ...terms });

export const separation = (setting: 'standard' | 'strict') =>
  server.sql('update organizations set separation_of_duties = $2, revision = revision + 1 where id = $1', [organizationId, setting]);

/** Past the API: what is told here is what follows, not how an agent is handed over. */
export const handOver = async (agent: BuiltAgent, to: { ownerId?: string; teamId?: string }) => {
  await server.sql('update agents set owner_id = coalesce($2, owner_id), team_id = coalesce($3, team_id) where id = $1',
    [agent.id, to.ownerId ?? null, to.teamId ?? null]);
  await server.sql('update audit_heads set revision = revision + 1 where chain = $1', [agent.id]);
};

export interface Terms {
  readonly capability?: string;
  readonly hitlMode?: string;
  readonly context?: Readonly<Record<string, string>>;
  readonly ownerId?: string;
  readonly teamId?: string;
  readonly registeredBy?: BuiltPerson;
  readonly vouchedBy?: BuiltPerson;
}

export interface Asked {
  readonly agent: BuiltAgent;
  readonly id: string;
  readonly execution: string;
}

export async function asked(terms: Terms = {}): Promise<Asked> {
  const { capability = CAPABILITY, hitlMode = 'propose', context, registeredBy, vouchedBy, ...ties } = terms;
  let agent: BuiltAgent;
  if (registeredBy) {
    const registration = { name: 'theirs', grants: [{ capability, hitlMode }] };
    const made = (await registeredBy.client.post('/api/v1/agents', registration)).expect(201);
    // Its first token is vouched for by whoever registered it: another one, so that this is the only tie.
    const token = (await root.post(`/api/v1/agents/${made.text('agent.id')}/token`)).expect(200).text('token');
    agent = { id: made.text('agent.id'), token, agent: {}, client: asAgent(server, token) };
  } else {
    agent = await anAgent(server).inOrganization(organizationId).granted(capability, { hitlMode }).create();
  }
  if (vouchedBy) {
    const token = (await vouchedBy.client.post(`/api/v1/agents/${agent.id}/token`)).expect(200).text('token');
    agent = { ...agent, token, client: asAgent(server, token) };
  }
  await handOver(agent, ties);
  const call = { capability, input: { to: 'a@example.org' }, ...(context ? { context } : {}) };
  const reply = (await agent.client.post(EXECUTE, call)).expect(202);
  return { agent, id: reply.text('hitlRequestId'), execution: reply.text('executionId') };
}

export type Body = Readonly<Record<string, unknown>>;

export const approve = (by: BuiltPerson | Client, { id }: Asked, body: Body = {}): Promise<Reply> =>
  ('client' in by ? by.client : by).post(`/api/v1/hitl/${id}/approve`, body);

export const reject = (by: BuiltPerson, { id }: Asked): Promise<Reply> => by.client.post(`/api/v1/hitl/${id}/reject`, {});

/** Barred: the code, and nothing of the request, of its execution or in the log has changed. */
export async function barred(by: BuiltPerson, request: Asked, code = 'SELF_APPROVAL', body: Body = {}): Promise<void> {
  const [before, entries] = [await requestOf(server, request.id), (await auditOf(server, request.agent.id)).length];
  (await approve(by, request, body)).expect(code === 'REASON_REQUIRED' ? 422 : 403, code);
  expect(await requestOf(server, request.id)).toEqual(before);
  expect(await executionOf(server, request.execution)).toMatchObject({ status: 'pending_hitl' });
  expect(await auditOf(server, request.agent.id)).toHaveLength(entries);
}

export const approved = async (by: BuiltPerson, request: Asked, body: Body = {}): Promise<Reply> => {
  const reply = (await approve(by, request, body)).expect(200);
  expect(reply.at('request')).toMatchObject({ status: 'approved', approvedBy: by.id, execution: { status: 'executed' } });
  return reply;
};

export function startDecisions(): void {
  beforeAll(async () => {
    [server, receiver] = await Promise.all([startServer(), startReceiver()]);
    root = asRoot(server);
  });
  afterAll(async () => {
    await server.stop();
    await receiver.close();
  });
  beforeEach(async () => {
    organizationId = await anOrganization(server);
    other = await person('admin');
  });
}
