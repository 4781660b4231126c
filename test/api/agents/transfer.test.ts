import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { asAgent, asRoot, type Client } from '../../support/http/actors.js';
import { anAgent, type BuiltAgent } from '../../support/builders/agents.js';
import { eventually } from '../../support/running/eventually.js';
import { defineCapability, executionBecomes, executionOf, pauseOutbox, requestOf, resumeOutbox } from '../../support/builders/gate.js';
import { known } from '../../support/memory/decided-log.js';
import { anOrganization, aPerson, aTeam, firstOrganization } from '../../support/builders/people.js';
import { aDoor } from '../../support/proofs/races.js';
import { startReceiver, type Receiver } from '../../support/http/receiver.js';
import { startServer, type TestServer } from '../../support/servers/server.js';
import { headOf, linksOf, transferred, welcomed } from '../../support/builders/transfers.js';
import { EXECUTE } from '../../support/http/paths.js';

let server: TestServer;
let receiver: Receiver;
let root: Client;
let home: string;
let abroad: string;
let names = 0;

beforeAll(async () => {
  [server, receiver] = await Promise.all([startServer(), startReceiver()]);
  root = asRoot(server);
  home = await firstOrganization(server);
});
afterAll(async () => {
  await server.stop();
  await receiver.close();
});
beforeEach(async () => {
  abroad = await anOrganization(server);
});

describe('what goes along and what stays', () => {
  test('the agent as it is said to be goes; rights, owner, team, node and tokens do not', async () => {
    const owner = await aPerson(server, 'member');
    const team = await aTeam(server, home);
    const agent = await anAgent(server).risk('high').tagged('eu').granted('web.search').granted('file.read').create();
    await server.sql('update agents set owner_id = $2, team_id = $3, node_last_seen = clock_timestamp() where id = $1',
      [agent.id, owner.id, team]);
    const moved = (await transferred(server, agent, abroad)).expect(200);
    expect(moved.at('agent')).toMatchObject({
      id: agent.id, organizationId: abroad, name: agent.agent.name, riskLevel: 'high', tags: ['eu'], status: 'active', capabilities: [],
      createdAt: agent.agent.createdAt,
    });
    expect(moved.at('agent')).not.toHaveProperty('nodeLastSeen');
    expect(await server.sql('select organization_id, owner_id, team_id, epoch > 0 as raised from agents where id = $1', [agent.id]))
      .toEqual([{ organization_id: abroad, owner_id: null, team_id: null, raised: true }]);
    expect(await server.sql('select 1 from capability_grants where agent_id = $1 and revoked_at is null', [agent.id])).toEqual([]);
    const revoked = (await linksOf(server, agent.id)).filter(({ event }) => event === 'capability.revoked');
    expect(revoked.map(({ organization_id, metadata }) => [metadata.capability, metadata.reason, organization_id]).sort()).toEqual([
      ['file.read', 'transferred', home], ['web.search', 'transferred', home],
    ]);
    (await root.get(`/api/v1/agents/${agent.id}`)).expect(200);
  });

  test('the people of the one no longer find it, those of the other do; what it did before stays with the one', async () => {
    const [before, after] = await Promise.all([
      aPerson(server, 'admin'), aPerson(server, 'admin', { organizationId: abroad }),
    ]);
    const agent = await anAgent(server).granted('web.search').create();
    const execution = (await agent.client.post(EXECUTE, { capability: 'web.search' })).expect(200).text('executionId');
    (await after.client.get(`/api/v1/agents/${agent.id}`)).expect(404);
    (await transferred(server, agent, abroad)).expect(200);
    (await before.client.get(`/api/v1/agents/${agent.id}`)).expect(404, 'NOT_FOUND');
    (await before.client.post(`/api/v1/agents/${agent.id}/token`)).expect(404, 'NOT_FOUND');
    (await after.client.get(`/api/v1/agents/${agent.id}`)).expect(200);
    (await before.client.get(`/api/v1/executions/${execution}`)).expect(200);
    (await after.client.get(`/api/v1/executions/${execution}`)).expect(404, 'NOT_FOUND');
    const seen = async ({ client }: { client: Client }) =>
      ((await client.get('/api/v1/audit', { query: { agentId: agent.id, limit: 500 } })).expect(200).list('entries') as { event: string }[])
        .map(({ event }) => event);
    expect((await seen(before)).at(0)).toBe('agent.transferred');
    expect(await seen(before)).toContain('execution.completed');
    expect(await seen(after)).toEqual(['agent.transferred']);
  });

  test('its old token is dead at once, on the gate too, and stays so when it comes back', async () => {
    const agent = await anAgent(server).granted('web.search').create();
    (await transferred(server, agent, abroad)).expect(200);
    const dead = async () => {
      (await agent.client.get('/api/v1/agents')).expect(401, 'UNAUTHENTICATED');
      (await agent.client.post(EXECUTE, { capability: 'web.search' })).expect(401, 'UNAUTHENTICATED');
      (await agent.client.post(`/api/v1/agents/${agent.id}/token/refresh`)).expect(401, 'UNAUTHENTICATED');
    };
    await dead();
    (await transferred(server, agent, home)).expect(200);
    await dead();
    expect(await server.sql('select 1 from executions where agent_id = $1', [agent.id])).toEqual([]);
  });

  test('the gate there lets it act by the grants of there', async () => {
    const agent = await anAgent(server).granted('web.search').create();
    (await transferred(server, agent, abroad)).expect(200);
    const bare = asAgent(server, (await root.post(`/api/v1/agents/${agent.id}/token`)).expect(200).text('token'));
    (await bare.post(EXECUTE, { capability: 'web.search' })).expect(403, 'CAPABILITY_NOT_GRANTED');
    const there = await welcomed(server, agent, 'email.send', 'propose');
    const asked = (await there.post(EXECUTE, { capability: 'email.send' })).expect(202).text('hitlRequestId');
    expect(await headOf(server, abroad, agent)).toMatchObject({ open_requests: 1, closed: false });
    const admin = await known(server, 'admin', abroad);
    (await admin.client.post(`/api/v1/hitl/${asked}/approve`)).expect(200);
    expect(await requestOf(server, asked)).toMatchObject({ status: 'approved', execution: { status: 'executed' } });
  });

  test('one out of service goes as it is', async () => {
    const agent = await anAgent(server).create();
    (await root.post(`/api/v1/agents/${agent.id}/deactivate`)).expect(200);
    expect((await transferred(server, agent, abroad)).expect(200).at('agent.status')).toBe('deactivated');
    (await root.post(`/api/v1/agents/${agent.id}/activate`)).expect(200);
    (await (await welcomed(server, agent)).post(EXECUTE, { capability: 'web.search' })).expect(200);
  });
});

describe('who may, and where to', () => {
  test('an owner between two organizations of their tenant, and nowhere else', async () => {
    const tenantId = `ten_${'0'.repeat(30)}${++names}`;
    const [one, two] = [await anOrganization(server, { tenantId }), await anOrganization(server, { tenantId })];
    const owner = await aPerson(server, 'owner', { organizationId: one });
    const agent = await anAgent(server).inOrganization(one).create();
    const stranger = await anAgent(server).inOrganization(abroad).create();
    (await transferred(server, agent, abroad, owner.client)).expect(404, 'NOT_FOUND');
    (await transferred(server, agent, 'org_nowhere', owner.client)).expect(404, 'NOT_FOUND');
    (await transferred(server, stranger, two, owner.client)).expect(404, 'NOT_FOUND');
    (await transferred(server, agent, two, owner.client)).expect(200);
    (await transferred(server, agent, one, owner.client)).expect(200);
    expect((await linksOf(server, agent.id)).filter(({ event }) => event === 'agent.transferred').map(({ actor_id }) => actor_id))
      .toEqual([owner.id, owner.id, owner.id, owner.id]);
  });

  test('nobody below, and no agent', async () => {
    const agent = await anAgent(server).create();
    for (const role of ['admin', 'member', 'viewer'] as const) {
      (await transferred(server, agent, abroad, (await aPerson(server, role)).client)).expect(403, 'FORBIDDEN');
    }
    (await transferred(server, agent, abroad, agent.client)).expect(403, 'FORBIDDEN');
    (await root.post(`/api/v1/agents/${agent.id}/transfer`, {})).expect(400, 'VALIDATION_FAILED');
    (await transferred(server, agent, 'org_nowhere')).expect(404, 'NOT_FOUND');
    (await transferred(server, { ...agent, id: 'agt_00000000000000000000000000absent0000' }, abroad)).expect(404, 'NOT_FOUND');
    (await root.delete(`/api/v1/agents/${agent.id}`)).expect(204);
    (await transferred(server, agent, abroad)).expect(404, 'NOT_FOUND');
  });

  test('not to where it is; with the same Idempotency-Key the first answer', async () => {
    const agent = await anAgent(server).create();
    (await transferred(server, agent, home)).expect(409, 'CONFLICT');
    const keyed = root.with({ 'idempotency-key': `transfer ${++names}`.replace(' ', '-') });
    const first = (await transferred(server, agent, abroad, keyed)).expect(200);
    const again = (await transferred(server, agent, abroad, keyed)).expect(200);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(again.body).toEqual(first.body);
    (await transferred(server, agent, abroad)).expect(409, 'CONFLICT');
  });

  test.each<[string, (agent: BuiltAgent) => Promise<[scope: string, organization: string, agentId: string | null]>]>([
    ['the agent', ({ id }) => Promise.resolve(['agent', home, id])],
    ['its organization', () => Promise.resolve(['organization', home, null])],
    ['the organization it goes to', () => Promise.resolve(['organization', abroad, null])],
    ['everything', () => Promise.resolve(['all', 'org_platform', null])],
  ])('not while a stop holds %s; then, and not for a stop of another agent', async (_, of) => {
    const agent = await anAgent(server).create();
    const other = await anAgent(server).create();
    const stop = (scope: string, organization: string, agentId: string | null) => server.sql(
      `insert into stops (organization_id, id, scope, agent_id, reason, made_by, made_by_role, made_at)
       values ($1, $2, $3, $4, 'x', 'root', 'root', clock_timestamp())`, [organization, `stp_${++names}`, scope, agentId]);
    await stop('agent', home, other.id);
    await stop(...(await of(agent)));
    try {
      (await transferred(server, agent, abroad)).expect(409, 'CONFLICT');
    } finally {
      await server.sql(`update stops set lifted_at = clock_timestamp(), lifted_by = 'root' where agent_id is distinct from $1`, [other.id]);
    }
    (await transferred(server, agent, abroad)).expect(200);
  });
});

describe('what is under way', () => {
  /** A capability that the receiver does, in the agent's organization. */
  async function connected(hitlMode: string): Promise<{ agent: BuiltAgent; capability: string }> {
    const capability = `crm.transfer-${++names}`;
    await defineCapability(server, capability, { connector: { type: 'http', method: 'POST', url: receiver.url, body: '{input}' } });
    return { capability, agent: await anAgent(server).granted(capability, { hitlMode }).create() };
  }

  test('open requests are cancelled by the system, and whoever decides on one is told', async () => {
    const agent = await anAgent(server).granted('email.send', { hitlMode: 'propose' }).granted('finance.payment').create();
    const ids: string[] = [];
    const executions: string[] = [];
    for (const capability of ['email.send', 'finance.payment']) {
      const asked = (await agent.client.post(EXECUTE, { capability })).expect(202);
      ids.push(asked.text('hitlRequestId'));
      executions.push(asked.text('executionId'));
    }
    const waiting = root.get(`/api/v1/hitl/${ids[0]}`, { query: { wait: 20 } });
    const admin = await aPerson(server, 'admin');
    (await transferred(server, agent, abroad)).expect(200);
    expect((await waiting).expect(200).at('status')).toBe('cancelled');
    for (const id of ids) {
      expect(await requestOf(server, id)).toMatchObject({ status: 'cancelled', decided_by: 'system' });
      for (const what of ['approve', 'reject', 'cancel', 'timeout']) {
        (await root.post(`/api/v1/hitl/${id}/${what}`)).expect(409, 'HITL_ALREADY_DECIDED');
      }
      (await admin.client.post(`/api/v1/hitl/${id}/approve`)).expect(409, 'HITL_ALREADY_DECIDED');
    }
    for (const id of executions) expect(await executionOf(server, id)).toMatchObject({ status: 'cancelled' });
    expect((await linksOf(server, agent.id)).filter(({ event }) => event === 'hitl.cancelled')
      .map(({ actor_id, organization_id, metadata }) => [actor_id, organization_id, metadata.reason]))
      .toEqual(ids.map(() => ['system', home, 'agent_transferred']));
    expect(await headOf(server, home, agent)).toMatchObject({ open_requests: 0, closed: true });
    expect(await headOf(server, abroad, agent)).toMatchObject({ open_requests: 0, closed: false });
  });

  test('what was approved and had not begun does not begin, and gives its share of a limit back', async () => {
    const { agent, capability } = await connected('propose');
    const [grant] = (await root.get(`/api/v1/agents/${agent.id}/capabilities`)).list('grants') as { id: string }[];
    const asked = (await agent.client.post(EXECUTE, { capability })).expect(202);
    const execution = asked.text('executionId');
    await server.sql('insert into grant_usage (organization_id, grant_id) values ($1, $2)', [home, grant!.id]);
    await server.sql(`insert into grant_uses (organization_id, grant_id, measure, execution_id, amount, waiting)
      values ($1, $2, 'count', $3, 1, true)`,
      [home, grant!.id, execution]);
    await server.sql(`insert into grant_totals (organization_id, grant_id, measure, amount) values ($1, $2, 'count', 1)`,
      [home, grant!.id]);
    const before = receiver.requests.length;
    await pauseOutbox(server);
    try {
      (await root.post(`/api/v1/hitl/${asked.text('hitlRequestId')}/approve`, {}, { query: { wait: 0 } })).expect(200);
      (await transferred(server, agent, abroad)).expect(200);
    } finally {
      await resumeOutbox(server);
    }
    expect(await executionOf(server, execution)).toMatchObject({ status: 'cancelled', reason: 'agent_transferred' });
    expect(await requestOf(server, asked.text('hitlRequestId'))).toMatchObject({ status: 'approved' });
    expect((await linksOf(server, agent.id)).find(({ event }) => event === 'execution.cancelled')).toMatchObject({
      actor_id: 'system', organization_id: home, metadata: { executionId: execution, reason: 'agent_transferred' },
    });
    // The worker has taken the approval up and found that there is nothing to begin.
    await eventually(async () => expect(await server.sql(`select 1 from outbox where kind = 'execution.run'`)).toEqual([]),
      { every: 100 });
    expect(receiver.requests).toHaveLength(before);
    expect(await server.sql('select 1 from grant_uses where execution_id = $1', [execution])).toEqual([]);
    expect(await server.sql('select amount::float from grant_totals where grant_id = $1', [grant!.id])).toEqual([{ amount: 0 }]);
  });

  test('409 while an action runs; a late answer to it goes to the organization\'s own chain', async () => {
    const { agent, capability } = await connected('auto');
    const door = aDoor();
    receiver.script({ after: door.opened });
    const call = agent.client.post(EXECUTE, { capability });
    const execution = await eventually(async () => {
      const [row] = await server.sql<{ id: string }>(`select id from executions where agent_id = $1 and status = 'running'`, [agent.id]);
      return row!.id;
    });
    (await transferred(server, agent, abroad)).expect(409, 'CONFLICT');
    expect(await server.sql('select organization_id from agents where id = $1', [agent.id])).toEqual([{ organization_id: home }]);
    await server.sql(`update executions set lease_until = clock_timestamp() where id = $1`, [execution]);
    await executionBecomes(server, execution, 'indeterminate', 20_000);
    (await transferred(server, agent, abroad)).expect(200);
    door.open();
    (await call).expect(200);
    const late = await eventually(async () => {
      const found = (await linksOf(server, `sys_${home}`)).find(({ event }) => event === 'execution.reported');
      expect(found).toMatchObject({ metadata: { executionId: execution, late: true } });
      return found!;
    }, { every: 100 });
    expect(late).toMatchObject({ organization_id: home, actor_id: 'system' });
    const here = (await linksOf(server, agent.id)).filter(({ organization_id }) => organization_id === home);
    expect(here.at(-1)?.event).toBe('agent.transferred');
    const admin = await aPerson(server, 'admin');
    (await admin.client.post(`/api/v1/executions/${execution}/settle`, { outcome: 'success', note: 'it came' })).expect(200);
    expect((await linksOf(server, `sys_${home}`)).at(-1)).toMatchObject({ event: 'execution.settled', actor_id: admin.id });
    expect(await executionOf(server, execution)).toMatchObject({ settlement: { outcome: 'success' } });
    expect((await root.get('/api/v1/audit/verify')).expect(200).at('breaks')).toEqual([]);
  });

  test('what the agent did before is reported by root, into the organization\'s own chain', async () => {
    const agent = await anAgent(server).granted('web.search').create();
    const execution = (await agent.client.post(EXECUTE, { capability: 'web.search' })).expect(200).text('executionId');
    (await transferred(server, agent, abroad)).expect(200);
    const there = await welcomed(server, agent);
    (await there.post(`/api/v1/executions/${execution}/report`, { outcome: 'success' })).expect(404, 'NOT_FOUND');
    (await root.post(`/api/v1/executions/${execution}/report`, { outcome: 'success' })).expect(200);
    expect((await linksOf(server, `sys_${home}`)).at(-1)).toMatchObject({
      event: 'execution.reported', metadata: { executionId: execution },
    });
    expect((await linksOf(server, agent.id)).map(({ event }) => event)).not.toContain('execution.reported');
  });
});
