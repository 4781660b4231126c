import { describe, expect, test } from '@jest/globals';
import { asRoot, type Client } from '../../support/http/actors.js';
import { entriesOf } from '../../support/log/entries.js';
import { anAgent } from '../../support/builders/agents.js';
import { anOrganization, aPerson, type BuiltPerson } from '../../support/builders/people.js';
import type { TestServer } from '../../support/servers/server.js';
import {
  startTwoServers, USERS, ABSENT, server, replica, root, anAddress, theRoles, idsOf,
} from '../../support/builders/roles-at-two-servers.js';

startTwoServers();

describe('making accounts', () => {
  test('root makes the first owner of an organization that never had one', async () => {
    const organizationId = await anOrganization(server);
    const body = { email: 'Ada@Example.test', name: 'Ada', avatar_url: 'https://example.test/a.png', role: 'owner', organizationId };
    const made = (await root.post(USERS, body)).expect(201);
    const id = made.text('user.id');
    expect(made.at('user')).toEqual({
      id, email: 'Ada@Example.test', name: 'Ada', avatarUrl: 'https://example.test/a.png', role: 'owner', organizationId,
      status: 'active', createdAt: expect.any(String),
    });
    expect((await root.get(`${USERS}/${id}`)).expect(200).at('user')).toEqual(made.at('user'));
    expect(await entriesOf(server, 'admin.user_created', organizationId)).toMatchObject([
      { actorId: 'root', metadata: { userId: id, email: 'Ada@Example.test', name: 'Ada', role: 'owner', occasion: 'made' } },
    ]);
  });

  test('an admin makes them in their organization: viewers unless said otherwise, none above themselves', async () => {
    const { admin, owner } = await theRoles();
    const made = (await admin.client.post(USERS, { email: anAddress() })).expect(201);
    expect(made.at('user')).toMatchObject({ role: 'viewer', name: null, avatarUrl: null, organizationId: admin.organizationId });
    (await admin.client.post(USERS, { email: anAddress(), role: 'admin' })).expect(201);
    (await admin.client.post(USERS, { email: anAddress(), role: 'owner' })).expect(403, 'FORBIDDEN');
    (await owner.client.post(USERS, { email: anAddress(), role: 'owner' })).expect(201);
  });

  test('members, viewers and agents make none', async () => {
    const { member, viewer } = await theRoles();
    const agent = await anAgent(server).create();
    for (const client of [member.client, viewer.client, agent.client]) {
      (await client.post(USERS, { email: anAddress() })).expect(403, 'FORBIDDEN');
    }
  });

  test("another organization's id makes nobody there", async () => {
    const { owner } = await theRoles();
    const foreign = await anOrganization(server);
    (await owner.client.post(USERS, { email: anAddress(), organizationId: foreign })).expect(404, 'NOT_FOUND');
    expect(await idsOf(root, { organizationId: foreign })).toEqual([]);
  });

  test('an address is taken once among the active accounts of an organization, whatever its case', async () => {
    const { admin } = await theRoles();
    const email = anAddress();
    const first = (await admin.client.post(USERS, { email })).expect(201).text('user.id');
    (await admin.client.post(USERS, { email: email.toUpperCase() })).expect(409, 'CONFLICT');
    (await root.post(USERS, { email, organizationId: await anOrganization(server) })).expect(201);
    const second = (await admin.client.post(USERS, { email: anAddress() })).expect(201).text('user.id');
    (await admin.client.patch(`${USERS}/${second}`, { email: email.toUpperCase() })).expect(409, 'CONFLICT');
    (await admin.client.patch(`${USERS}/${first}`, { email: email.toUpperCase() })).expect(200);
    (await admin.client.delete(`${USERS}/${first}`)).expect(204);
    (await admin.client.post(USERS, { email })).expect(201);
  });

  test('one of many with the same address at once gets it', async () => {
    const { admin } = await theRoles();
    const email = anAddress();
    const clients = [admin.client, { ...admin.client, post: asOn(replica, admin).post }];
    const answers = await Promise.all(Array.from({ length: 8 }, (_, i) => clients[i % 2]!.post(USERS, { email })));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array<number>(7).fill(409)]);
  });

  test.each([
    ['no address', {}],
    ['not one', { email: 'ada' }],
    ['two lines', { email: 'ada@example.test\nbcc:eve@example.test' }],
    ['two of them', { email: 'ada@example.test,eve@example.test' }],
    ['too long', { email: `${'a'.repeat(250)}@b.cd` }],
    ['look-alike letters', { email: 'аda@example.test' }],
    ['an unknown role', { email: 'a@b.cd', role: 'root' }],
    ['a script for a picture', { email: 'a@b.cd', avatarUrl: 'javascript:alert(1)' }],
    ['a picture in plain http', { email: 'a@b.cd', avatarUrl: 'http://example.test/a.png' }],
    ['a password in an address', { email: 'a@b.cd', avatarUrl: 'https://me:secret@example.test/' }],
    ['a long picture', { email: 'a@b.cd', avatarUrl: `https://example.test/${'a'.repeat(2_000)}` }],
    ['a name of two lines', { email: 'a@b.cd', name: 'Ada\nLovelace' }],
  ])('%s: 400', async (_, body) => {
    (await root.post(USERS, body)).expect(400, 'VALIDATION_FAILED');
  });

  test('what only the service says is not taken', async () => {
    const sent = { email: anAddress(), id: ABSENT, status: 'erased', vouchedBy: 'x' };
    (await root.post(USERS, sent)).expect(400, 'VALIDATION_FAILED');
    const made = (await root.with({ prefer: 'handling=lenient' }).post(USERS, sent)).expect(201);
    expect(made.at('user')).toMatchObject({ status: 'active' });
    expect(made.text('user.id')).not.toBe(ABSENT);
  });

  test('a retry with the same key makes one', async () => {
    const keyed = root.with({ 'idempotency-key': 'make-user-1' });
    const body = { email: anAddress() };
    const first = (await keyed.post(USERS, body)).expect(201);
    expect((await keyed.post(USERS, body)).expect(201).body).toEqual(first.body);
  });
});

function asOn(at: TestServer, { key }: BuiltPerson): Client {
  return asRoot(at).with({ authorization: `Bearer ${key}` });
}

describe('reading', () => {
  test('everybody sees those of their organization; agents nobody', async () => {
    const people = await theRoles();
    const foreign = await aPerson(server, 'owner', { organizationId: await anOrganization(server) });
    const ids = Object.values(people).map(({ id }) => id).sort();
    for (const { client, id } of Object.values(people)) {
      expect((await idsOf(client)).sort()).toEqual(ids);
      expect(await idsOf(client, { organizationId: foreign.organizationId })).toEqual([]);
      (await client.get(`${USERS}/${id}`)).expect(200);
      (await client.get(`${USERS}/${foreign.id}`)).expect(404, 'NOT_FOUND');
      (await client.get(`${USERS}/${ABSENT}`)).expect(404, 'NOT_FOUND');
    }
    const agent = await anAgent(server).create();
    (await agent.client.get(USERS)).expect(403, 'FORBIDDEN');
  });

  test('me is oneself, and nobody for root and agents', async () => {
    for (const { client, id, role } of Object.values(await theRoles())) {
      expect((await client.get(`${USERS}/me`)).expect(200).at('user')).toMatchObject({ id, role, status: 'active' });
    }
    (await root.get(`${USERS}/me`)).expect(403, 'FORBIDDEN');
    const agent = await anAgent(server).create();
    (await agent.client.get(`${USERS}/me`)).expect(403, 'FORBIDDEN');
  });

  test('filters, pages, newest first', async () => {
    const { owner, admin, member, viewer } = await theRoles();
    expect(await idsOf(owner.client, { role: 'admin' })).toEqual([admin.id]);
    (await owner.client.delete(`${USERS}/${viewer.id}`)).expect(204);
    expect(await idsOf(owner.client, { status: 'deleted' })).toEqual([viewer.id]);
    expect((await idsOf(owner.client)).sort()).toEqual([owner.id, admin.id, member.id].sort());
    const page = (await owner.client.get(USERS, { query: { limit: 2 } })).expect(200);
    expect(page.number('total')).toBe(3);
    const rest = (await owner.client.get(USERS, { query: { limit: 2, cursor: page.text('nextCursor') } })).expect(200);
    const seen = [...page.list('users'), ...rest.list('users')].map((user) => (user as { id: string }).id);
    expect(seen).toEqual([...seen].sort().reverse());
    expect(new Set(seen).size).toBe(3);
    (await owner.client.get(USERS, { query: { status: 'gone' } })).expect(400, 'VALIDATION_FAILED');
  });
});
