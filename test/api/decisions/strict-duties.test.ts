import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { asAgent, asRoot, type Client, type Reply } from '../../support/http/actors.js';
import { auditOf } from '../../support/log/entries.js';
import { anAgent, type BuiltAgent } from '../../support/builders/agents.js';
import { executionOf, requestOf } from '../../support/builders/gate.js';
import {
  anOrganization, aPerson, aTeam, type BuiltPerson, type PersonTerms, type Role,
} from '../../support/builders/people.js';
import { startReceiver, type Receiver } from '../../support/http/receiver.js';
import { startServer, type TestServer } from '../../support/servers/server.js';
import { EXECUTE } from '../../support/http/paths.js';

const CAPABILITY = 'email.send';

let server: TestServer;
let root: Client;
let receiver: Receiver;

beforeAll(async () => {
  [server, receiver] = await Promise.all([startServer(), startReceiver()]);
  root = asRoot(server);
});

afterAll(async () => {
  await server.stop();
  await receiver.close();
});

// Each test has an organization of its own: how many people are there is part of the rules. The other one is never behind anything.
let organizationId: string;
let other: BuiltPerson;

beforeEach(async () => {
  organizationId = await anOrganization(server);
  other = await person('admin');
});

const person = (role: Role, terms: PersonTerms = {}) => aPerson(server, role, { organizationId, ...terms });

const separation = (setting: 'standard' | 'strict') =>
  server.sql('update organizations set separation_of_duties = $2, revision = revision + 1 where id = $1', [organizationId, setting]);

/** Past the API: what is told here is what follows, not how an agent is handed over. */
const handOver = async (agent: BuiltAgent, to: { ownerId?: string; teamId?: string }) => {
  await server.sql('update agents set owner_id = coalesce($2, owner_id), team_id = coalesce($3, team_id) where id = $1',
    [agent.id, to.ownerId ?? null, to.teamId ?? null]);
  await server.sql('update audit_heads set revision = revision + 1 where chain = $1', [agent.id]);
};

interface Terms {
  readonly capability?: string;
  readonly hitlMode?: string;
  readonly context?: Readonly<Record<string, string>>;
  readonly ownerId?: string;
  readonly teamId?: string;
  readonly registeredBy?: BuiltPerson;
  readonly vouchedBy?: BuiltPerson;
}

interface Asked {
  readonly agent: BuiltAgent;
  readonly id: string;
  readonly execution: string;
}

async function asked(terms: Terms = {}): Promise<Asked> {
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

type Body = Readonly<Record<string, unknown>>;

const approve = (by: BuiltPerson | Client, { id }: Asked, body: Body = {}): Promise<Reply> =>
  ('client' in by ? by.client : by).post(`/api/v1/hitl/${id}/approve`, body);

const reject = (by: BuiltPerson, { id }: Asked): Promise<Reply> => by.client.post(`/api/v1/hitl/${id}/reject`, {});

/** Barred: the code, and nothing of the request, of its execution or in the log has changed. */
async function barred(by: BuiltPerson, request: Asked, code = 'SELF_APPROVAL', body: Body = {}): Promise<void> {
  const [before, entries] = [await requestOf(server, request.id), (await auditOf(server, request.agent.id)).length];
  (await approve(by, request, body)).expect(code === 'REASON_REQUIRED' ? 422 : 403, code);
  expect(await requestOf(server, request.id)).toEqual(before);
  expect(await executionOf(server, request.execution)).toMatchObject({ status: 'pending_hitl' });
  expect(await auditOf(server, request.agent.id)).toHaveLength(entries);
}

const approved = async (by: BuiltPerson, request: Asked, body: Body = {}): Promise<Reply> => {
  const reply = (await approve(by, request, body)).expect(200);
  expect(reply.at('request')).toMatchObject({ status: 'approved', approvedBy: by.id, execution: { status: 'executed' } });
  return reply;
};

describe('strict', () => {
  test.each(['ownerId', 'registeredBy', 'vouchedBy'] as const)('bars by %s, and lets them reject', async (tie) => {
    await separation('strict');
    const admin = await person('admin');
    const request = await asked({ [tie]: tie === 'ownerId' ? admin.id : admin });
    await barred(admin, request);
    (await reject(admin, request)).expect(200);
    await approved(other, await asked({ [tie]: tie === 'ownerId' ? admin.id : admin }));
  });

  test('the owner of then and the owner of now', async () => {
    await separation('strict');
    const [before, after] = [await person('admin'), await person('admin')];
    const request = await asked({ ownerId: before.id });
    await handOver(request.agent, { ownerId: after.id });
    await barred(before, request);
    await barred(after, request);
    await approved(other, request);
  });

  const settings = [['strict', 'standard'], ['standard', 'strict']] as const;

  test.each(settings)('%s when it was asked, %s now: the stricter holds', async (then, now) => {
    const admin = await person('admin');
    await separation(then);
    const request = await asked({ vouchedBy: admin });
    await separation(now);
    await barred(admin, request);
    await approved(other, request);
  });

  test.each([
    ['account', 'update users set created_at = clock_timestamp() where id = $1'],
    ['role', 'update users set role_since = clock_timestamp() where id = $1'],
    ['personal key', 'update personal_keys set created_at = clock_timestamp() where user_id = $1'],
  ])('%s has to be older than the request', async (right, make) => {
    await separation('strict');
    const admin = await person('admin');
    const request = await asked();
    await server.sql(make, [admin.id]);
    const detail = (await approve(admin, request)).expect(403, 'NOT_ELIGIBLE').text('detail');
    expect(detail).toContain(right);
    (await reject(admin, request)).expect(200);
    await approved(admin, await asked());
  });

  test('so has a place in the team, where the right to decide rests on it, and the team itself', async () => {
    await separation('strict');
    const [member, lead] = [await person('member'), await person('member')];
    const request = await asked();
    const teamId = await aTeam(server, organizationId, [{ userId: member.id }, { userId: lead.id, role: 'lead' }]);
    await handOver(request.agent, { teamId });
    await barred(member, request, 'NOT_ELIGIBLE');
    await separation('standard');
    await barred(member, request, 'NOT_ELIGIBLE');

    const theirs = await asked({ teamId });
    await server.sql('update team_members set since = clock_timestamp() where user_id = $1', [member.id]);
    await server.sql('update team_members set role_since = clock_timestamp() where user_id = $1', [lead.id]);
    await approved(member, theirs);
    await separation('strict');
    const [first, second] = [await asked({ teamId }), await asked({ teamId })];
    await server.sql('update team_members set since = clock_timestamp() where user_id = $1', [member.id]);
    await server.sql('update team_members set role_since = clock_timestamp() where user_id = $1', [lead.id]);
    await barred(member, first, 'NOT_ELIGIBLE');
    await server.sql('update hitl_requests set escalation_level = 1 where id = $1', [second.id]);
    await barred(lead, second, 'NOT_ELIGIBLE');
    await approved(lead, first);
  });

  test('whoever vouched for an account counts as one person with it, in every direction', async () => {
    const inviter = await person('admin');
    const invited = await person('admin', { vouchedBy: inviter.id });
    const sibling = await person('admin', { vouchedBy: inviter.id });
    const grandchild = await person('admin', { vouchedBy: invited.id });
    // Root vouched for both of these: that makes them nobody's second self.
    const [one, two] = [await person('admin', { vouchedBy: 'root' }), await person('admin', { vouchedBy: 'root' })];
    const pairs = [[inviter, grandchild], [grandchild, inviter], [sibling, invited], [grandchild, sibling]] as const;
    for (const [initiator, decider] of pairs) {
      const request = await asked({ context: { on_behalf_of: initiator.email } });
      await separation('strict');
      await barred(decider, request);
      await separation('standard');
      await approved(decider, await asked({ context: { on_behalf_of: initiator.email } }));
    }
    await separation('strict');
    const behindAgent = await asked({ vouchedBy: sibling });
    await barred(grandchild, behindAgent);
    await approved(one, behindAgent);
    await approved(two, await asked({ context: { on_behalf_of: one.id } }));
    await server.sql('update users set vouched_by = $2 where id = $1', [inviter.id, grandchild.id]);
    await barred(invited, await asked({ context: { on_behalf_of: sibling.id } }));
  });

  test("an owner from the tenant's other organization is a person here", async () => {
    const tenantId = `ten_${organizationId.slice(4)}`;
    const elsewhere = await anOrganization(server, { tenantId });
    await server.sql('update organizations set tenant_id = $2 where id = $1', [organizationId, tenantId]);
    const owner = await aPerson(server, 'owner', { organizationId: elsewhere });
    await separation('strict');
    const request = await asked({ context: { on_behalf_of: owner.email } });
    await barred(owner, request);
    // Not alone: the owner of the other organization could have decided.
    await barred(other, await asked({ vouchedBy: other }));
    const second = await person('admin', { vouchedBy: owner.id });
    await barred(second, request);
    await approved(other, request);
    await approved(owner, await asked());
  });
});
