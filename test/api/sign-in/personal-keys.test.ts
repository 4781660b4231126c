import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { anonymous, as, asRoot, type Client } from '../../support/http/actors.js';
import { type AuditEntry, entriesOf } from '../../support/log/entries.js';
import { anAgent } from '../../support/builders/agents.js';
import { eventually } from '../../support/running/eventually.js';
import { anOrganization, aPerson, firstOrganization, type BuiltPerson } from '../../support/builders/people.js';
import { startServer, type TestServer } from '../../support/servers/server.js';

const FORM = /^svc_user_[0-9a-f]{64}$/;
const ROLES = ['owner', 'admin', 'member', 'viewer'] as const;

let server: TestServer;
let replica: TestServer;
let root: Client;

beforeAll(async () => {
  server = await startServer();
  replica = await startServer({ replicaOf: server });
  root = asRoot(server);
});

afterAll(async () => {
  await replica.stop();
  await server.stop();
});

const keysOf = ({ id }: { id: string }) => `/api/v1/users/${id}/keys`;
const lists = async (client: Client, person: BuiltPerson) =>
  ((await client.get(keysOf(person))).expect(200).list('keys') as { id: string }[]).map(({ id }) => id);

async function anOrganizationOf(...roles: readonly (typeof ROLES)[number][]): Promise<BuiltPerson[]> {
  const organizationId = await anOrganization(server);
  return Promise.all(roles.map((role) => aPerson(server, role, { organizationId })));
}

describe('making keys', () => {
  test('root makes the first one for somebody, and it works at once', async () => {
    const organizationId = await anOrganization(server);
    const user = (await root.post('/api/v1/users', { email: 'first@example.test', role: 'owner', organizationId })).expect(201);
    const id = user.text('user.id');
    const made = (await root.post(keysOf({ id }), { name: 'bootstrap' })).expect(201);
    const secret = made.text('secret');
    expect(secret).toMatch(FORM);
    expect(made.at('key')).toEqual({
      id: expect.stringMatching(/^key_/), name: 'bootstrap', createdAt: expect.any(String), expiresAt: null,
    });
    expect((await as(server, secret).get('/api/v1/users/me')).expect(200).at('user.id')).toBe(id);
    expect((await as(replica, secret).get('/api/v1/users/me')).expect(200).at('user.id')).toBe(id);
    expect(await entriesOf(server, 'admin.user_key_created', organizationId)).toMatchObject([
      { actorId: 'root', metadata: { userId: id, keyId: made.text('key.id'), name: 'bootstrap' } },
    ]);
  });

  test('everybody makes their own, and nobody another\'s', async () => {
    const people = await anOrganizationOf(...ROLES);
    for (const person of people) {
      (await person.client.post(keysOf(person), { name: 'mine' })).expect(201);
      for (const other of people.filter((one) => one !== person)) {
        (await person.client.post(keysOf(other), { name: 'theirs' })).expect(403, 'FORBIDDEN');
      }
    }
    const agent = await anAgent(server).create();
    (await agent.client.post(keysOf(people[0]!), { name: 'x' })).expect(403, 'FORBIDDEN');
  });

  test('the secret is nowhere else: not in the replay, the list, the log or the tables', async () => {
    const [person] = await anOrganizationOf('admin');
    const keyed = person!.client.with({ 'idempotency-key': 'one' });
    const first = (await keyed.post(keysOf(person!), { name: 'once' })).expect(201);
    const again = (await keyed.post(keysOf(person!), { name: 'once' })).expect(201);
    expect(again.body).toEqual({ ...(first.body as object), secret: null });
    const list = (await person!.client.get(keysOf(person!))).expect(200);
    expect(list.number('total')).toBe(2);
    expect(Object.keys(list.at('keys.0') as object).sort()).toEqual(['createdAt', 'expiresAt', 'id', 'name']);
    const secret = first.text('secret').slice('svc_user_'.length);
    const [found] = await server.sql<{ n: number }>(
      `select (select count(*) from personal_keys k where k::text like $1) + (select count(*) from idempotency_keys i where i::text like $1)
         + (select count(*) from audit_entries e where e::text like $1) as n`,
      [`%${secret}%`],
    );
    expect(Number(found!.n)).toBe(0);
    expect(server.output()).not.toContain(secret);
  });

  test('an idempotency key is its person\'s own', async () => {
    const [one, other] = await anOrganizationOf('admin', 'admin');
    const body = { name: 'same' };
    const mine = (await one!.client.with({ 'idempotency-key': 'shared' }).post(keysOf(one!), body)).expect(201);
    const theirs = (await other!.client.with({ 'idempotency-key': 'shared' }).post(keysOf(other!), body)).expect(201);
    expect(theirs.headers.get('idempotent-replayed')).toBeNull();
    expect(theirs.text('key.id')).not.toBe(mine.text('key.id'));
  });

  test('an end must lie ahead; an expired key is dead at the next call', async () => {
    const [person] = await anOrganizationOf('viewer');
    (await person!.client.post(keysOf(person!), { name: 'past', expiresAt: '2020-01-01T00:00:00Z' })).expect(400, 'VALIDATION_FAILED');
    (await person!.client.post(keysOf(person!), { name: 'when', expiresAt: 'tomorrow' })).expect(400, 'VALIDATION_FAILED');
    (await person!.client.post(keysOf(person!), {})).expect(400, 'VALIDATION_FAILED');
    const expiresAt = new Date(Date.now() + 3_000).toISOString();
    const made = (await person!.client.post(keysOf(person!), { name: 'short', expires_at: expiresAt })).expect(201);
    expect(made.at('key.expiresAt')).toBe(expiresAt);
    const client = as(replica, made.text('secret'));
    (await client.get('/api/v1/users/me')).expect(200);
    await eventually(async () => (await client.get('/api/v1/users/me')).expect(401, 'UNAUTHENTICATED'), { every: 250 });
    expect(await lists(person!.client, person!)).toContain(made.text('key.id'));
  });

  test('at most 50 live ones, counted one after the other', async () => {
    const [person] = await anOrganizationOf('member');
    const clients = [server, replica].map((at) => as(at, person!.key));
    const answers = [];
    for (let wave = 0; wave < 7; wave++) {
      const makeOne = (_: unknown, i: number) => clients[i % 2]!.post(keysOf(person!), { name: `k${wave}-${i}` });
      answers.push(...(await Promise.all(Array.from({ length: 8 }, makeOne))));
    }
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(49);
    for (const refused of answers.filter(({ status }) => status !== 201)) refused.expect(409, 'CONFLICT');
    (await person!.client.delete(`${keysOf(person!)}/${answers.find(({ status }) => status === 201)!.text('key.id')}`)).expect(204);
    (await person!.client.post(keysOf(person!), { name: 'again' })).expect(201);
  });
});

describe('listing and revoking', () => {
  test('administrators those of people not above them; everybody else their own', async () => {
    const [owner, admin, member, viewer] = (await anOrganizationOf(...ROLES)) as [BuiltPerson, BuiltPerson, BuiltPerson, BuiltPerson];
    const allowed = [[owner, admin], [owner, owner], [admin, member], [admin, admin], [member, member], [viewer, viewer]] as const;
    for (const [who, whose] of allowed) {
      expect(await lists(who.client, whose)).toEqual([whose.keyId]);
    }
    for (const [who, whose] of [[admin, owner], [member, viewer], [viewer, member], [member, owner]] as const) {
      (await who.client.get(keysOf(whose))).expect(403, 'FORBIDDEN');
      (await who.client.delete(`${keysOf(whose)}/${whose.keyId}`)).expect(403, 'FORBIDDEN');
      (await whose.client.get('/api/v1/users/me')).expect(200);
    }
    (await admin.client.delete(`${keysOf(member)}/${member.keyId}`)).expect(204);
    (await member.client.get('/api/v1/users/me')).expect(401, 'UNAUTHENTICATED');
    expect(await entriesOf(server, 'admin.user_key_revoked', owner.organizationId)).toMatchObject([
      { actorId: admin.id, metadata: { userId: member.id, keyId: member.keyId } },
    ]);
    expect(await lists(root, owner)).toEqual([owner.keyId]);
  });

  test('a revoked key is dead on every replica, out of the list, and cannot be revoked again', async () => {
    const [person] = await anOrganizationOf('viewer');
    const made = (await person!.client.post(keysOf(person!), { name: 'second' })).expect(201);
    const path = `${keysOf(person!)}/${made.text('key.id')}`;
    (await as(replica, made.text('secret')).get('/api/v1/users/me')).expect(200);
    (await person!.client.delete(path)).expect(204);
    for (const at of [server, replica]) (await as(at, made.text('secret')).get('/api/v1/users/me')).expect(401, 'UNAUTHENTICATED');
    expect(await lists(person!.client, person!)).toEqual([person!.keyId]);
    (await person!.client.delete(path)).expect(404, 'NOT_FOUND');
  });

  test("a key is found under its own person only, and another organization's under nobody", async () => {
    const [admin, member] = await anOrganizationOf('admin', 'member');
    const foreign = await aPerson(server, 'viewer', { organizationId: await anOrganization(server) });
    (await admin!.client.delete(`${keysOf(member!)}/${admin!.keyId}`)).expect(404, 'NOT_FOUND');
    (await admin!.client.delete(`${keysOf(member!)}/${foreign.keyId}`)).expect(404, 'NOT_FOUND');
    (await admin!.client.delete(`${keysOf(foreign)}/${foreign.keyId}`)).expect(404, 'NOT_FOUND');
    (await admin!.client.get(keysOf(foreign))).expect(404, 'NOT_FOUND');
    (await admin!.client.post(keysOf(foreign), { name: 'x' })).expect(404, 'NOT_FOUND');
    for (const one of [admin!, foreign]) (await one.client.get('/api/v1/users/me')).expect(200);
  });

  test('what a dying key begins does not outlive the answer that ended it', async () => {
    for (let round = 0; round < 10; round++) {
      const [admin] = await anOrganizationOf('admin');
      const made: Promise<unknown>[] = [];
      const people = async () => {
        const [row] = await server.sql<{ n: number }>('select count(*)::integer as n from users where organization_id = $1', [
          admin!.organizationId,
        ]);
        return row!.n;
      };
      let revoked = false;
      const late: number[] = [];
      for (let i = 0; i < 6; i++) {
        const client = as(i % 2 === 0 ? server : replica, admin!.key);
        made.push((async () => {
          while (!revoked) await client.post('/api/v1/users', { email: `${Math.random().toString(36).slice(2)}@race.test` });
          late.push((await client.post('/api/v1/users', { email: `${Math.random().toString(36).slice(2)}@late.test` })).status);
        })());
      }
      (await root.delete(`${keysOf(admin!)}/${admin!.keyId}`)).expect(204);
      const before = await people();
      revoked = true;
      await Promise.all(made);
      expect(late).toEqual(Array<number>(6).fill(401));
      expect(await people()).toBe(before);
    }
  });
});

describe('what people see with their key', () => {
  test('lists hold their own organization\'s, whatever organization they name', async () => {
    const home = await anOrganization(server);
    const foreign = await anOrganization(server);
    const [mine, theirs] = [
      await anAgent(server).inOrganization(home).granted('web.search').granted('email.send', { hitlMode: 'propose' }).create(),
      await anAgent(server).inOrganization(foreign).granted('web.search').granted('email.send', { hitlMode: 'propose' }).create(),
    ];
    const executed = [];
    for (const agent of [mine, theirs]) {
      executed.push((await agent.client.post('/api/v1/execute', { capability: 'web.search' })).expect(200).text('executionId'));
      executed.push((await agent.client.post('/api/v1/execute', { capability: 'email.send' })).expect(202).text('hitlRequestId'));
    }
    const [myExecution, myRequest, theirExecution, theirRequest] = executed as [string, string, string, string];
    for (const role of ROLES) {
      const { client } = await aPerson(server, role, { organizationId: home });
      const pages: readonly (readonly [string, string, string])[] = [
        ['/api/v1/agents', 'agents', mine.id], ['/api/v1/executions', 'executions', myExecution], ['/api/v1/hitl', 'requests', myRequest],
      ];
      for (const [path, member, own] of pages) {
        const ids = ((await client.get(path)).expect(200).list(member) as { id: string }[]).map(({ id }) => id);
        expect(ids).toContain(own);
        for (const id of [theirs.id, theirExecution, theirRequest]) expect(ids).not.toContain(id);
        const named = await client.get(path, { query: { organizationId: foreign } });
        expect(JSON.stringify(named.body)).not.toContain(theirs.id);
      }
      for (const path of [`/api/v1/agents/${theirs.id}`, `/api/v1/agents/${theirs.id}/capabilities`, `/api/v1/executions/${theirExecution}`,
        `/api/v1/hitl/${theirRequest}`]) {
        (await client.get(path)).expect(404, 'NOT_FOUND');
      }
      const grants = (await client.get('/api/v1/capabilities/grants', { query: { capability: 'web.search' } })).expect(200);
      expect((grants.list('grants') as { agentId: string }[]).map(({ agentId }) => agentId)).toEqual([mine.id]);
    }
  });

  test('what an owner or admin makes belongs to their organization; naming another is 404', async () => {
    const foreign = await firstOrganization(server);
    for (const person of await anOrganizationOf('owner', 'admin')) {
      const made = (await person.client.post('/api/v1/agents', { name: 'ours' })).expect(201);
      expect(made.at('agent.organizationId')).toBe(person.organizationId);
      (await person.client.post('/api/v1/agents', { name: 'theirs', organizationId: foreign })).expect(404, 'NOT_FOUND');
      (await person.client.post('/api/v1/agents', { name: 'nobody\'s', organizationId: 'org_absent0000' })).expect(404, 'NOT_FOUND');
    }
  });

  test('of the log: administrators all of their organization, members what they did or what is about them, viewers nothing', async () => {
    const [owner, admin, member, viewer] = (await anOrganizationOf(...ROLES)) as [BuiltPerson, BuiltPerson, BuiltPerson, BuiltPerson];
    const foreign = await firstOrganization(server);
    (await owner.client.patch(`/api/v1/users/${viewer.id}`, { name: 'Somebody' })).expect(200);
    (await owner.client.patch(`/api/v1/users/${member.id}`, { name: 'Me' })).expect(200);
    (await member.client.post(keysOf(member), { name: 'mine' })).expect(201);
    const eventsFor = async (client: Client, query = {}) => {
      const page = (await client.get('/api/v1/audit', { query })).expect(200);
      expect(page.number('total')).toBe(page.list('entries').length);
      return page.list('entries') as AuditEntry[];
    };
    for (const person of [owner, admin]) {
      expect((await eventsFor(person.client)).map(({ event }) => event)).toEqual([
        'admin.user_key_created', 'admin.user_updated', 'admin.user_updated',
      ]);
      expect(await eventsFor(person.client, { organizationId: foreign })).toEqual([]);
    }
    const own = await eventsFor(member.client);
    expect(own.map(({ metadata }) => metadata.userId)).toEqual([member.id, member.id]);
    const [ofAll] = (await eventsFor(owner.client, { userId: viewer.id })) as [AuditEntry];
    (await member.client.get(`/api/v1/audit/${ofAll.id}`)).expect(404, 'NOT_FOUND');
    (await member.client.get(`/api/v1/audit/${own[0]!.id}`)).expect(200);
    expect(await eventsFor(member.client, { userId: viewer.id })).toEqual([]);
    (await viewer.client.get('/api/v1/audit')).expect(403, 'FORBIDDEN');
  });
});

describe('keys that are none', () => {
  test.each([
    ['one digit off', (key: string) => key.replace(/.$/, (last) => (last === '0' ? '1' : '0'))],
    ['in capitals', (key: string) => `svc_user_${key.slice(9).toUpperCase()}`],
    ['shorter', (key: string) => key.slice(0, -1)],
    ['longer', (key: string) => `${key}0`],
    ['as a root key', (key: string) => key.replace('svc_user_', 'svc_root_')],
    ['its hash', () => `svc_user_${'0'.repeat(64)}`],
  ])('%s: 401', async (_, mutate) => {
    const [person] = await anOrganizationOf('owner');
    (await as(server, mutate(person!.key)).get('/api/v1/users/me')).expect(401, 'UNAUTHENTICATED');
  });

  test('x-api-key carries the root key only', async () => {
    const [person] = await anOrganizationOf('owner');
    const alone = anonymous(server).with({ 'x-api-key': person!.key });
    const twice = as(server, person!.key).with({ 'x-api-key': person!.key });
    const besideAnother = as(server, (await anAgent(server).create()).token).with({ 'x-api-key': person!.key });
    for (const client of [alone, twice, besideAnother]) (await client.get('/api/v1/users/me')).expect(401, 'UNAUTHENTICATED');
  });
});
