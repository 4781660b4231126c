import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { asRoot, type Client, type Reply } from '../../support/http/actors.js';
import { auditOf, type AuditEntry } from '../../support/log/entries.js';
import { anAgent, type BuiltAgent } from '../../support/builders/agents.js';
import { defineCapability } from '../../support/builders/gate.js';
import { anOrganization, aPerson, type BuiltPerson, firstOrganization } from '../../support/builders/people.js';
import { startReceiver, type Receiver } from '../../support/http/receiver.js';
import { ABSENT_IDS } from '../../support/routes/routes.js';
import { startServer, type TestServer } from '../../support/servers/server.js';
import { EXECUTE } from '../../support/http/paths.js';

const STOPS = '/api/v1/stops';

let server: TestServer;
let root: Client;
let receiver: Receiver;
let home: string;
let away: string;
let owner: BuiltPerson;
let secondOwner: BuiltPerson;
let admin: BuiltPerson;
let secondAdmin: BuiltPerson;
let ownerOfAway: BuiltPerson;

beforeAll(async () => {
  [server, receiver] = await Promise.all([startServer(), startReceiver()]);
  root = asRoot(server);
  home = await firstOrganization(server);
  const tenantId = 'ten_0000000000000000000000000000stops001';
  await server.sql('insert into tenants (id, name) values ($1, $1)', [tenantId]);
  away = await anOrganization(server, { tenantId });
  await anOrganization(server, { tenantId });
  [owner, secondOwner, admin, secondAdmin, ownerOfAway] = await Promise.all([
    aPerson(server, 'owner'), aPerson(server, 'owner'), aPerson(server, 'admin'), aPerson(server, 'admin'),
    aPerson(server, 'owner', { organizationId: away }),
  ]);
  await defineCapability(server, 'crm.push', { connector: { type: 'http', method: 'POST', url: receiver.url, body: '{input}' } });
});

afterAll(async () => {
  await server.stop();
  await receiver.close();
});

const PROPOSE = { hitlMode: 'propose' };
const anAgentHere = () =>
  anAgent(server).granted('web.search').granted('email.send', PROPOSE).granted('crm.push', PROPOSE).create();
const stop = (by: Client, scope: string, id?: string, reason = 'it pays twice') => by.post(STOPS, { scope, id, reason });
const lift = (by: Client, id: string) => by.delete(`${STOPS}/${id}`);

async function stopped(by: Client, scope: string, id?: string): Promise<string> {
  return (await stop(by, scope, id)).expect(201).text('stop.id');
}

const search = (agent: BuiltAgent) => agent.client.post(EXECUTE, { capability: 'web.search' });

/** Everything that one test stops, another one would find stopped. */
async function during<T>(id: string, story: () => Promise<T>): Promise<T> {
  try {
    return await story();
  } finally {
    (await lift(root, id)).expect(204);
  }
}

describe('making and reading', () => {
  test('of an agent: who, what and why; its call is refused and names the stop; lifted, it runs', async () => {
    const agent = await anAgentHere();
    const other = await anAgentHere();
    const made = (await stop(admin.client, 'agent', agent.id)).expect(201);
    const id = made.text('stop.id');
    expect(made.at('stop')).toEqual({
      id: expect.stringMatching(/^stp_/), scope: 'agent', targetId: agent.id, organizationId: home, reason: 'it pays twice',
      madeBy: admin.id, madeAt: expect.any(String),
    });
    const refused = (await search(agent)).expect(403, 'STOPPED');
    expect(refused.text('detail')).toContain(id);
    (await search(other)).expect(200);
    expect((await root.get(`${STOPS}/${id}`)).expect(200).at('stop')).toEqual(made.at('stop'));
    (await lift(admin.client, id)).expect(204);
    (await search(agent)).expect(200);
    expect((await root.get(`${STOPS}/${id}`)).at('stop')).toEqual({
      ...(made.at('stop') as object), liftedBy: admin.id, liftedAt: expect.any(String),
    });
    expect((await auditOf(server, agent.id)).filter(({ event }) => /stop|blocked/.test(event))).toMatchObject([
      { event: 'admin.stop_started', actorId: admin.id,
        metadata: { stopId: id, scope: 'agent', targetId: agent.id, reason: 'it pays twice' } },
      { event: 'execution.blocked', capability: 'web.search', metadata: { reason: 'STOPPED' } },
      { event: 'admin.stop_ended', actorId: admin.id, metadata: { stopId: id, scope: 'agent', targetId: agent.id } },
    ]);
  });

  test('of an organization: its agents and no others', async () => {
    const agent = await anAgentHere();
    const elsewhere = await anAgent(server).inOrganization(away).granted('web.search').create();
    const id = await stopped(owner.client, 'organization');
    await during(id, async () => {
      expect((await root.get(`${STOPS}/${id}`)).at('stop')).toMatchObject({ scope: 'organization', targetId: home, organizationId: home });
      (await search(agent)).expect(403, 'STOPPED');
      (await search(elsewhere)).expect(200);
    });
    (await search(agent)).expect(200);
    expect((await entriesIn(home)).filter(({ event }) => event.startsWith('admin.stop')).slice(-2)).toMatchObject([
      { event: 'admin.stop_started', actorId: owner.id }, { event: 'admin.stop_ended', actorId: 'root' },
    ]);
    expect((await root.get('/api/v1/audit/verify')).expect(200).at('valid')).toBe(true);
  });

  test('of everything: by root alone, felt by everyone, seen by whoever reads stops, lifted by root alone', async () => {
    const agent = await anAgentHere();
    const elsewhere = await anAgent(server).inOrganization(away).granted('web.search').create();
    (await stop(owner.client, 'all')).expect(403, 'FORBIDDEN');
    (await stop(root, 'all', home)).expect(400, 'VALIDATION_FAILED');
    const id = await stopped(root, 'all');
    await during(id, async () => {
      const shown = (await root.get(`${STOPS}/${id}`)).expect(200).at('stop');
      expect(shown).toEqual({ id, scope: 'all', reason: 'it pays twice', madeBy: 'root', madeAt: expect.any(String) });
      for (const one of [agent, elsewhere]) expect((await search(one)).expect(403, 'STOPPED').text('detail')).toContain(id);
      for (const { client } of [owner, admin, ownerOfAway]) {
        expect((await client.get(`${STOPS}/${id}`)).expect(200).at('stop')).toEqual(shown);
        expect((await client.get(STOPS, { query: { status: 'active' } })).expect(200).body).toEqual({ stops: [shown], total: 1 });
        (await lift(client, id)).expect(403, 'FORBIDDEN');
      }
      (await agent.client.get(`${STOPS}/${id}`)).expect(403, 'FORBIDDEN');
      (await search(agent)).expect(403, 'STOPPED');
      const newcomer = await anOrganization(server);
      (await search(await anAgent(server).inOrganization(newcomer).granted('web.search').create())).expect(403, 'STOPPED');
    });
    (await search(elsewhere)).expect(200);
    expect((await entriesIn('org_platform')).filter(({ event }) => event.startsWith('admin.stop'))).toMatchObject([
      { event: 'admin.stop_started', actorId: 'root' }, { event: 'admin.stop_ended', actorId: 'root' },
    ]);
  });

  test('what is wrong with a body', async () => {
    for (const [body, pointer] of [
      [{ scope: 'agent', reason: 'x' }, '/id'], [{ scope: 'team', reason: 'x' }, '/scope'], [{ reason: 'x' }, '/scope'],
      [{ scope: 'organization' }, '/reason'], [{ scope: 'organization', reason: ' ' }, '/reason'],
      [{ scope: 'organization', reason: 'x'.repeat(1_001) }, '/reason'],
    ] as const) {
      expect((await root.post(STOPS, body)).expect(400, 'VALIDATION_FAILED').text('errors.0.pointer')).toBe(pointer);
    }
    expect((await root.get(`${STOPS}?status=active`)).expect(200).number('total')).toBe(0);
  });

  test('the list: newest first, by state, agent and organization, paged', async () => {
    const agent = await anAgentHere();
    const ids = [await stopped(admin.client, 'agent', agent.id), await stopped(admin.client, 'agent', agent.id)];
    (await lift(admin.client, ids[0]!)).expect(204);
    const of = async (by: Client, query: string) => {
      const page = (await by.get(`${STOPS}?${query}`)).expect(200);
      return [(page.list('stops') as { id: string }[]).map(({ id }) => id), page.number('total')];
    };
    expect(await of(admin.client, `agentId=${agent.id}`)).toEqual([[ids[1], ids[0]], 2]);
    expect(await of(admin.client, `agent_id=${agent.id}&status=active`)).toEqual([[ids[1]], 1]);
    expect(await of(admin.client, `agentId=${agent.id}&status=lifted`)).toEqual([[ids[0]], 1]);
    expect(await of(admin.client, `agentId=${agent.id}&limit=1&offset=1`)).toEqual([[ids[0]], 2]);
    expect(await of(root, `organizationId=${home}&limit=1`)).toEqual([[ids[1]], expect.any(Number)]);
    expect(await of(ownerOfAway.client, `agentId=${agent.id}`)).toEqual([[], 0]);
    (await root.get(`${STOPS}?status=made`)).expect(400);
    (await search(agent)).expect(403, 'STOPPED');
    (await lift(admin.client, ids[1]!)).expect(204);
  });

  test('the same key, the same stop', async () => {
    const agent = await anAgentHere();
    for (const [by, body] of [
      [admin.client, { scope: 'agent', id: agent.id, reason: 'r' }], [owner.client, { scope: 'organization', reason: 'r' }],
      [root, { scope: 'all', reason: 'r' }],
    ] as const) {
      const keyed = by.with({ 'idempotency-key': `stop-${body.scope}` });
      const first = (await keyed.post(STOPS, body)).expect(201);
      await during(first.text('stop.id'), async () => {
        const again = (await keyed.post(STOPS, body)).expect(201);
        expect(again.body).toEqual(first.body);
        expect(again.headers.get('idempotent-replayed')).toBe('true');
        (await keyed.post(STOPS, { ...body, reason: 'another' })).expect(422, 'IDEMPOTENCY_KEY_REUSED');
      });
    }
    expect((await root.get(`${STOPS}?status=active`)).number('total')).toBe(0);
  });
});

describe('who may', () => {
  test('neither members, viewers nor agents', async () => {
    const agent = await anAgentHere();
    const [member, viewer] = await Promise.all([aPerson(server, 'member'), aPerson(server, 'viewer')]);
    for (const client of [member.client, viewer.client, agent.client]) {
      (await stop(client, 'agent', agent.id)).expect(403, 'FORBIDDEN');
      (await lift(client, ABSENT_IDS.stops!)).expect(403, 'FORBIDDEN');
      (await client.get(STOPS)).expect(403, 'FORBIDDEN');
      (await client.get(`${STOPS}/${ABSENT_IDS.stops!}`)).expect(403, 'FORBIDDEN');
    }
    (await search(agent)).expect(200);
  });

  test('what is another organization\'s is not there', async () => {
    const agent = await anAgentHere();
    const words = (reply: Reply) => reply.text('detail');
    const absent = words((await stop(ownerOfAway.client, 'agent', ABSENT_IDS.agents!)).expect(404, 'NOT_FOUND'));
    expect(words((await stop(ownerOfAway.client, 'agent', agent.id)).expect(404, 'NOT_FOUND'))).toBe(absent);
    (await stop(ownerOfAway.client, 'organization', home)).expect(404, 'NOT_FOUND');
    (await stop(root, 'organization', 'org_platform')).expect(404, 'NOT_FOUND');
    const id = await stopped(admin.client, 'agent', agent.id);
    (await ownerOfAway.client.get(`${STOPS}/${id}`)).expect(404, 'NOT_FOUND');
    (await lift(ownerOfAway.client, id)).expect(404, 'NOT_FOUND');
    (await lift(admin.client, id)).expect(204);
    (await lift(admin.client, ABSENT_IDS.stops!)).expect(404, 'NOT_FOUND');
  });

  test('an owner names any organization of the tenant, an admin only the own; root names one, or means the first', async () => {
    const [{ id: sister }] = await server.sql<{ id: string }>('select id from organizations where tenant_id is not null and id <> $1',
      [away]) as [{ id: string }];
    const adminOfAway = await aPerson(server, 'admin', { organizationId: away });
    (await stop(adminOfAway.client, 'organization', sister)).expect(404, 'NOT_FOUND');
    for (const [by, id, meant] of [
      [ownerOfAway.client, sister, sister], [ownerOfAway.client, undefined, away], [adminOfAway.client, away, away],
      [root, undefined, home], [root, away, away],
    ] as const) {
      const made = (await stop(by, 'organization', id)).expect(201);
      expect(made.text('stop.organizationId')).toBe(meant);
      (await lift(by, made.text('stop.id'))).expect(204);
    }
  });

  test('lifted by its maker or a higher role, once', async () => {
    const agent = await anAgentHere();
    const refused: [string, Client, Client][] = [
      ['an admin an admin\'s', admin.client, secondAdmin.client], ['an admin an owner\'s', owner.client, admin.client],
      ['an owner an owner\'s', owner.client, secondOwner.client], ['an owner root\'s', root, owner.client],
    ];
    for (const [who, maker, other] of refused) {
      const id = await stopped(maker, 'agent', agent.id);
      expect([who, (await lift(other, id)).expect(403, 'FORBIDDEN').status]).toEqual([who, 403]);
      (await search(agent)).expect(403, 'STOPPED');
      (await lift(maker, id)).expect(204);
      (await lift(maker, id)).expect(409, 'CONFLICT');
    }
    for (const [maker, other] of [[admin.client, owner.client], [admin.client, root], [owner.client, root]] as const) {
      (await lift(other, await stopped(maker, 'agent', agent.id))).expect(204);
    }
    (await search(agent)).expect(200);
  });
});

/** Entries of an organization's own chain, oldest first. */
async function entriesIn(organizationId: string): Promise<AuditEntry[]> {
  const page = await root.get('/api/v1/audit', { query: { limit: 500 } });
  const ids = new Set((await server.sql<{ id: string }>(`select id from audit_entries where organization_id = $1 and chain like 'sys%'`,
    [organizationId])).map(({ id }) => id));
  return (page.list('entries') as AuditEntry[]).filter(({ id }) => ids.has(id)).reverse();
}
