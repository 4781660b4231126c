import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { as, asRoot, type Client } from '../../support/http/actors.js';
import { anAgent, type BuiltAgent } from '../../support/builders/agents.js';
import { columnsWith, erased, erasuresOf } from '../../support/erasure/erasures.js';
import { anOrganization, aPerson, firstOrganization, type BuiltPerson } from '../../support/builders/people.js';
import { recordPeople } from '../../support/erasure/recorded-people.js';
import { startServer, type TestServer } from '../../support/servers/server.js';
import { verifiedLog } from '../../support/log/verified-log.js';
import { storedStateOf } from '../../support/log/stored-state.js';

const LOG = ['audit_entries', 'erasures', 'users', 'personal_keys'];
const from = (address: string) => ({ 'x-forwarded-for': address });

let server: TestServer;
let organizationId: string;
let owner: BuiltPerson;
let people = 0;

beforeAll(async () => {
  server = await startServer({ env: { TRUSTED_PROXIES: '127.0.0.1' } });
  organizationId = await firstOrganization(server);
  owner = await aPerson(server, 'owner');
});

afterAll(() => server.stop());

let person: { id: string; email: string; name: string; address: string; key: string; client: Client };

/** Somebody with a past: their address changed, they called from a place of theirs, and others wrote about them. */
beforeEach(async () => {
  const n = ++people;
  const [email, name, address] = [`rosalind.${n}@example.org`, `Rosalind Franklin-${n}`, `198.51.100.${n}`];
  const old = `rosalind.${n}.before@example.org`;
  const made = await asRoot(server).post('/api/v1/users', { email: old, name, role: 'admin', organizationId });
  const id = made.expect(201).text('user.id');
  (await asRoot(server).patch(`/api/v1/users/${id}`, { email })).expect(200);
  const key = (await asRoot(server).post(`/api/v1/users/${id}/keys`, { name: `of ${name}` })).expect(201).text('secret');
  const client = as(server, key).with(from(address));
  (await client.post('/api/v1/teams', { name: `team ${n}`, description: `led by ${name}` })).expect(201);
  person = { id, email, name, address, key, client };
});

const erase = (who: Client, id = person.id) => who.delete(`/api/v1/users/${id}/data`);

interface Seen {
  readonly event: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly origin?: Readonly<Record<string, unknown>>;
}

async function entriesAbout(userId: string): Promise<Seen[]> {
  const query = { userId, limit: 100 };
  return (await asRoot(server).get('/api/v1/audit', { query })).expect(200).list('entries') as Seen[];
}

/** What is decided by these facts may have to be decided again, which changes nothing of them. */
async function withoutRevisions(): Promise<Record<string, string>> {
  const { audit_heads: _heads, organizations: _organizations, ...state } = await storedStateOf(server, [organizationId]);
  return state;
}

describe('erasing a user', () => {
  test('leaves an id, dead keys, and a log that reads [erased] and verifies', async () => {
    const answer = (await erase(owner.client)).expect(200);
    expect(answer.body).toMatchObject({ userId: person.id, profile: 1, sessions: 0, keys: 1, identityProvider: 'none' });
    // From elsewhere: the platform's chain keeps of a refused call where it came from.
    (await as(server, person.key).get('/api/v1/users/me')).expect(401, 'UNAUTHENTICATED');
    await erased(server);
    expect((await owner.client.get(`/api/v1/users/${person.id}`)).expect(200).at('user')).toMatchObject({
      id: person.id, status: 'erased', email: null, name: null, avatarUrl: null,
    });
    const about = await entriesAbout(person.id);
    const made = about.find(({ event }) => event === 'admin.user_created')!;
    expect(made.metadata).toMatchObject({ userId: person.id, email: '[erased]', name: '[erased]', role: 'admin' });
    expect(about.find(({ event }) => event === 'admin.team_changed')).toMatchObject({ origin: { address: '[erased]' } });
    const executed = about.filter(({ event }) => event === 'gdpr.erasure_executed');
    expect(executed.length).toBeGreaterThan(0);
    for (const { metadata } of executed) expect(metadata['erased']).toEqual([...(metadata['erased'] as string[][])].sort());
    for (const text of [person.name, person.email, person.address, 'before@example.org']) {
      expect([text, await columnsWith(server, text, LOG)]).toEqual([text, []]);
    }
    expect(await verifiedLog(server.database.url)).toMatchObject({ valid: true, breaks: [] });
  });

  test('again is 200 with zeros, and changes nothing', async () => {
    const first = (await erase(owner.client)).expect(200);
    await erased(server);
    const before = await withoutRevisions();
    const second = (await erase(owner.client)).expect(200);
    expect(second.body).toEqual({
      userId: person.id, erasedAt: first.text('erasedAt'), profile: 0, sessions: 0, keys: 0, auditEntries: 0, requests: 0, notifications: 0,
      identityProvider: 'none', erasures: [],
    });
    expect(await withoutRevisions()).toEqual(before);
  });

  test('of a closed account erases what it left', async () => {
    (await owner.client.delete(`/api/v1/users/${person.id}`)).expect(204);
    expect((await erase(owner.client)).expect(200).number('profile')).toBe(1);
    await erased(server);
    expect(await columnsWith(server, person.email, LOG)).toEqual([]);
  });

  test('somebody erases themselves', async () => {
    expect((await erase(person.client)).expect(200).number('profile')).toBe(1);
    await erased(server);
    expect(await columnsWith(server, person.address, LOG)).toEqual([]);
    expect(await verifiedLog(server.database.url)).toMatchObject({ valid: true });
  });

  test('reaches the platform\'s own log when root asks, also later', async () => {
    // Refused, so that the platform's chain names them with the address.
    (await person.client.get('/api/v1/agents', { headers: { 'x-api-key': 'svc_root_nothing' } })).expect(401);
    (await erase(owner.client)).expect(200);
    await erased(server);
    (await erase(asRoot(server))).expect(200);
    await erased(server);
    expect((await erase(asRoot(server))).expect(200).list('erasures')).toEqual([]);
    expect(await verifiedLog(server.database.url)).toMatchObject({ valid: true });
  });
});

describe('a name that is said to be somebody\'s', () => {
  let admin: BuiltPerson;
  let second: BuiltPerson;
  let agent: BuiltAgent;
  let text: string;
  let home: string;

  beforeEach(async () => {
    home = await anOrganization(server);
    [admin, second] = [await aPerson(server, 'admin', { organizationId: home }), await aPerson(server, 'owner', { organizationId: home })];
    await recordPeople(server);
    agent = await anAgent(server).inOrganization(home).granted('web.search').granted('email.send', { hitlMode: 'propose' }).create();
    text = `transfer everything to account ${people}`;
  });

  const search = (input: object) => agent.client.post('/api/v1/execute', { capability: 'web.search', input }).then((r) => r.expect(200));
  const memosOf = (what: string, count: number) => search(Object.fromEntries(Array.from({ length: count }, (_, i) => [`m${i}`, what])));
  const decided = async (note = text) => {
    const asked = (await agent.client.post('/api/v1/execute', { capability: 'email.send', input: { memo: text } })).expect(202);
    (await admin.client.post(`/api/v1/hitl/${asked.text('hitlRequestId')}/reject`, { note })).expect(200);
  };
  const anAccount = async (name: string | undefined, email = `throw.away.${Math.random()}@example.org`, role = 'viewer') =>
    (await admin.client.post('/api/v1/users', { email, name, role })).expect(201).text('user.id');
  const isInLog = async (what: string) => (await columnsWith(server, what, ['audit_entries'])).length > 0;
  const searchOf = async (userId: string) => (await erasuresOf(admin.client)).find((one) => one['userId'] === userId)!;
  const erasedAs = async (userId: string, who: Client = admin.client) => {
    (await erase(who, userId)).expect(200);
    await erased(server);
    return searchOf(userId);
  };
  const nobodys = `nobody.${Math.random()}@example.org`;

  test.each<[string, () => Promise<string>]>([
    ['the account\'s from the beginning', () => anAccount(text)],
    ['one that it was given later', async () => {
      const id = await anAccount('Honest Name');
      (await admin.client.patch(`/api/v1/users/${id}`, { name: text })).expect(200);
      return id;
    }],
    ['one that it had before', async () => {
      const id = await anAccount(text);
      (await admin.client.patch(`/api/v1/users/${id}`, { name: 'Honest Name' })).expect(200);
      return id;
    }],
  ])('takes no decision\'s words away until a second person confirms: %s', async (_when, make) => {
    await decided();
    const id = await make();
    const answer = (await erase(admin.client, id)).expect(200);
    expect(answer.body).toMatchObject({ profile: 1 });
    await erased(server);
    expect(await searchOf(id)).toMatchObject({ state: 'unconfirmed', kind: 'user', askedBy: admin.id, counts: { byText: 0 } });
    expect(await isInLog(text)).toBe(true);
    expect(await columnsWith(server, text, ['hitl_requests'])).not.toEqual([]);
    const { metadata } = (await entriesAbout(id)).find(({ event }) => event === 'admin.user_created')!;
    expect(metadata).toMatchObject({ email: '[erased]', name: '[erased]' });
    expect(await verifiedLog(server.database.url)).toMatchObject({ valid: true, breaks: [] });

    const path = `/api/v1/audit/erasures/${(await searchOf(id)).id}/confirm`;
    (await admin.client.post(path)).expect(403, 'FORBIDDEN');
    (await second.client.post(path)).expect(200);
    await erased(server);
    expect(await searchOf(id)).toMatchObject({ state: 'done', confirmedBy: second.id });
    for (const what of [text, 'Honest Name']) expect([what, await columnsWith(server, what)]).toEqual([what, []]);
    expect(await verifiedLog(server.database.url)).toMatchObject({ valid: true, breaks: [] });
  });

  test('nor does an e-mail address', async () => {
    await decided(`by order of ${nobodys}`);
    expect(await erasedAs(await anAccount(undefined, nobodys))).toMatchObject({ state: 'unconfirmed' });
    expect(await isInLog(`by order of ${nobodys}`)).toBe(true);
  });

  test('takes no more than a hundred values of a day, in however many accounts', async () => {
    const texts = [1, 2, 3].map((n) => `${text} no ${n}`);
    for (const one of texts) await memosOf(one, 40);
    const states = [];
    for (const one of texts) states.push((await erasedAs(await anAccount(one))).state);
    expect(states).toEqual(['done', 'done', 'unconfirmed']);
    expect(await Promise.all(texts.map(isInLog))).toEqual([false, false, true]);
    // What was erased so counts for what is asked by its text, too.
    const asked = await admin.client.post('/api/v1/audit/erasures', { values: [texts[2]], reason: 'again' });
    expect(asked.expect(202).text('erasure.state')).toBe('unconfirmed');
  });

  test('nor in accounts that erase themselves', async () => {
    const texts = [1, 2, 3].map((n) => `${text} no ${n}`);
    for (const one of texts) await memosOf(one, 40);
    const states = [];
    for (const one of texts) {
      const id = await anAccount(one, undefined, 'admin');
      const key = (await asRoot(server).post(`/api/v1/users/${id}/keys`, { name: 'own' })).expect(201).text('secret');
      states.push((await erasedAs(id, as(server, key))).state);
    }
    expect(states).toEqual(['done', 'done', 'unconfirmed']);
  });

  test('somebody who decided, and is named beside it, is erased on one word', async () => {
    const own = await aPerson(server, 'admin', { organizationId: home });
    (await admin.client.patch(`/api/v1/users/${own.id}`, { name: person.name })).expect(200);
    const client = own.client.with(from('203.0.113.98'));
    const asked = (await agent.client.post('/api/v1/execute', { capability: 'email.send', input: { memo: text } })).expect(202);
    (await client.post(`/api/v1/hitl/${asked.text('hitlRequestId')}/reject`, { note: 'not today' })).expect(200);
    (await client.post('/api/v1/teams', { name: 'theirs', description: `headed by ${person.name}` })).expect(201);
    expect(await erasedAs(own.id)).toMatchObject({ state: 'done', counts: { byText: 1 } });
    for (const what of ['203.0.113.98', `headed by ${person.name}`]) expect([what, await isInLog(what)]).toEqual([what, false]);
    expect(await isInLog('not today')).toBe(true);
  });

  test('what is their own goes at once, however much it is', async () => {
    await decided(`${person.name} agreed`);
    const own = await aPerson(server, 'admin', { organizationId: home });
    const client = own.client.with(from('203.0.113.99'));
    for (let i = 0; i < 105; i++) (await client.post('/api/v1/teams', { name: `team ${i}` })).expect(201);
    (await admin.client.patch(`/api/v1/users/${own.id}`, { name: person.name })).expect(200);
    const waiting = await erasedAs(own.id);
    expect(waiting).toMatchObject({ state: 'unconfirmed', counts: { byText: 0 } });
    expect(waiting.counts.values).toBeGreaterThan(105);
    expect(await isInLog('203.0.113.99')).toBe(false);
    expect(await isInLog(`${person.name} agreed`)).toBe(true);
    expect(await columnsWith(server, person.name, ['users'])).toEqual(['users.name']);
  });
});

describe('who may', () => {
  test.each(['member', 'viewer'] as const)('a %s may not', async (role) => {
    (await erase((await aPerson(server, role)).client)).expect(403, 'FORBIDDEN');
  });

  test('an agent may not, an admin not somebody above, and a stranger finds nobody', async () => {
    const agent = await anAgent(server).create();
    (await erase(agent.client)).expect(403, 'FORBIDDEN');
    (await erase(person.client, owner.id)).expect(403, 'FORBIDDEN');
    const elsewhere = await anOrganization(server, { tenantId: 'ten_strange' });
    const stranger = await aPerson(server, 'owner', { organizationId: elsewhere });
    (await erase(stranger.client)).expect(404, 'NOT_FOUND');
    (await erase(asRoot(server), 'usr_00000000000000000000000000absent0000')).expect(404, 'NOT_FOUND');
    (await erase(asRoot(server), 'nonsense')).expect(404);
    expect((await owner.client.get(`/api/v1/users/${person.id}`)).text('user.email')).toBe(person.email);
  });

  test('the last owner stays', async () => {
    (await erase(asRoot(server), owner.id)).expect(409, 'CONFLICT');
    (await owner.client.get('/api/v1/users/me')).expect(200);
  });
});

describe('what is not theirs', () => {
  test('stays: other organizations to the byte, others\' values here, words that only begin alike', async () => {
    const elsewhere = await anOrganization(server, { tenantId: 'ten_elsewhere' });
    const there = await aPerson(server, 'owner', { organizationId: elsewhere });
    (await there.client.post('/api/v1/teams', { name: 'theirs', description: `knows ${person.name} ${person.email}` })).expect(201);
    const before = await storedStateOf(server, [elsewhere]);
    const kept = [`${person.name}9 is another`, `x${person.email}`, `${person.address}9`];
    for (const description of kept) {
      (await owner.client.post('/api/v1/teams', { name: `kept ${Math.random()}`, description })).expect(201);
    }
    (await erase(owner.client)).expect(200);
    await erased(server);
    expect(await storedStateOf(server, [elsewhere])).toEqual(before);
    const recorded = JSON.stringify(await entriesAbout(owner.id));
    for (const text of kept) expect(recorded).toContain(text);
    expect((await erasuresOf(there.client)).length).toBe(0);
  });
});
