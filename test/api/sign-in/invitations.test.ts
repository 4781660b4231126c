import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createHash } from 'node:crypto';
import { anonymous, asRoot, type Client } from '../../support/http/actors.js';
import { entriesOf } from '../../support/log/entries.js';
import { aVisitor, PASSWORD, type Visitor } from '../../support/sign-in/passwords.js';
import { anOrganization, aPerson, type BuiltPerson, closeAccount, firstOrganization } from '../../support/builders/people.js';
import { startServer, type TestServer } from '../../support/servers/server.js';
import { asSession, aTenant, originOf } from '../../support/builders/tenants.js';

const INVITATIONS = '/api/v1/users/invitations';

let server: TestServer;
let replica: TestServer;
let root: Client;
let visitor: Visitor;
let n = 0;

beforeAll(async () => {
  server = await startServer({ env: { LOG_LEVEL: 'info' } });
  replica = await startServer({ replicaOf: server, env: { APP_URL: originOf(server) } });
  root = asRoot(server);
  visitor = await aVisitor(server);
});
afterAll(async () => {
  await replica.stop();
  await server.stop();
});

const anAddress = () => `invited.${++n}@example.test`;
const tokenOf = (link: string) => new URL(link).pathname.split('/').pop()!;

interface Invited {
  readonly id: string;
  readonly email: string;
  readonly link: string;
}

async function invited(by: Client, role = 'viewer', more: object = {}): Promise<Invited> {
  const email = anAddress();
  const made = (await by.post(INVITATIONS, { email, role, ...more })).expect(201);
  return { id: made.text('invitation.id'), email, link: made.text('link') };
}

async function usersOf(email: string) {
  return server.sql<{ id: string; role: string; vouched_by: string | null; name: string | null }>(
    'select id, role, vouched_by, name from users where email_folded = lower($1)', [email]);
}

describe('a link in hand', () => {
  test('lets its bearer in once, as somebody whom the inviter vouches for', async () => {
    const organizationId = await firstOrganization(server);
    const admin = await aPerson(server, 'admin');
    const email = anAddress();
    const made = (await admin.client.post(INVITATIONS, { email, role: 'member', name: 'Ines' })).expect(201);
    const link = made.text('link');
    expect(link).toMatch(new RegExp(`^${originOf(server)}/invitations/[0-9a-f]{64}$`));
    expect(made.at('invitation')).toEqual({
      id: expect.stringMatching(/^inv_/), email, name: 'Ines', role: 'member', organizationId, status: 'open', delivery: 'hand',
      createdAt: expect.any(String), expiresAt: expect.any(String),
    });
    const [row] = await server.sql<{ token_hash: string }>(
      'select token_hash from invitations where id = $1', [made.text('invitation.id')]);
    expect(row!.token_hash).toBe(createHash('sha256').update(tokenOf(link)).digest('hex'));

    const came = await visitor.accept(link);
    expect(came).toMatchObject({ status: 303, session: expect.stringMatching(/^countersign=/) });
    const [user] = await usersOf(email);
    expect(user).toMatchObject({ role: 'member', vouched_by: admin.id, name: 'Ines' });
    const me = anonymous(server).with({ cookie: came.session! });
    expect((await me.get('/api/v1/users/me')).expect(200).at('user.id')).toBe(user!.id);
    expect((await visitor.signIn(email, PASSWORD)).status).toBe(303);

    expect((await visitor.accept(link)).status).toBe(404);
    expect(await usersOf(email)).toHaveLength(1);
    const id = made.text('invitation.id');
    const ended = (await entriesOf(server, 'admin.invitation_ended', organizationId))
      .filter(({ metadata }) => metadata.invitationId === id);
    expect(ended).toMatchObject([{ actorId: user!.id, metadata: { change: 'accepted' } }]);
    expect(await entriesOf(server, 'admin.user_invited', organizationId)).toContainEqual(expect.objectContaining({
      actorId: admin.id, metadata: expect.objectContaining({ invitationId: id, email, role: 'member', delivery: 'hand' }),
    }));
    const about = (await entriesOf(server, 'auth.credential_changed', organizationId))
      .filter(({ metadata }) => metadata.userId === user!.id);
    expect(about).toMatchObject([{ actorId: user!.id, metadata: { method: 'password', change: 'added' } }]);
    expect((await admin.client.get(INVITATIONS)).expect(200).list('invitations')).toContainEqual(
      expect.objectContaining({ id, status: 'accepted', userId: user!.id }));
  });

  test('of root vouches for nobody', async () => {
    const { link, email } = await invited(root, 'owner');
    expect((await visitor.accept(link)).status).toBe(303);
    expect(await usersOf(email)).toMatchObject([{ role: 'owner', vouched_by: null }]);
  });

  test('is shown once, and stands in no list, no row and no log', async () => {
    const email = anAddress();
    const keyed = root.with({ 'idempotency-key': `invite-${email}` });
    const first = (await keyed.post(INVITATIONS, { email, role: 'viewer' })).expect(201);
    const again = (await keyed.post(INVITATIONS, { email, role: 'viewer' })).expect(201);
    expect(again.at('invitation.id')).toBe(first.at('invitation.id'));
    expect(again.at('link')).toBeNull();
    const token = tokenOf(first.text('link'));
    expect((await fetch(first.text('link').replace('localhost', '127.0.0.1'))).status).toBe(200);
    expect((await visitor.accept(first.text('link'))).status).toBe(303);
    expect(server.output()).toContain('/invitations/');
    expect(server.output()).not.toContain(token);
    expect(JSON.stringify((await root.get(INVITATIONS)).expect(200).body)).not.toContain(token);
    expect(JSON.stringify(await server.sql('select * from invitations'))).not.toContain(token);
    expect(JSON.stringify(await server.sql('select * from idempotency_keys'))).not.toContain(token);
  });

  test('of five who follow it at once, on two servers, lets one in', async () => {
    const { link, email, id } = await invited(root, 'member');
    const elsewhere = await aVisitor(replica);
    const answers = await Promise.all(Array.from({ length: 5 }, (_, i) => (i % 2 ? visitor : elsewhere).post(
      new URL(link).pathname, { password: `${PASSWORD} ${i}` }, { origin: originOf(server) })));
    expect(answers.filter(({ status }) => status === 303)).toHaveLength(1);
    expect(answers.filter(({ status }) => ![303, 404, 503].includes(status))).toEqual([]);
    const [user, ...others] = await usersOf(email);
    expect(others).toEqual([]);
    expect(await server.sql('select 1 from sessions where user_id = $1', [user!.id])).toHaveLength(1);
    expect(await server.sql('select 1 from passwords where user_id = $1', [user!.id])).toHaveLength(1);
    expect(await server.sql('select accepted_by from invitations where id = $1', [id])).toEqual([{ accepted_by: user!.id }]);
  });

  test('takes no password that is too short, common, common when repeated, or uniform, and stays good', async () => {
    const { link, email } = await invited(root);
    for (const password of ['eleven char', 'password1234', 'qwertyqwerty', 'aaaaaaaaaaaabbb']) {
      expect([password, (await visitor.accept(link, password)).status]).toEqual([password, 400]);
      expect(await usersOf(email)).toEqual([]);
    }
    expect((await visitor.accept(link)).status).toBe(303);
  });

  test('takes no password with the address in it', async () => {
    const { link, email } = await invited(root);
    expect((await visitor.accept(link, `${email.split('@')[0]} xyz 12`)).status).toBe(400);
    expect(await usersOf(email)).toEqual([]);
  });
});

describe('a link that is good no more', () => {
  const lets = async ({ link, email }: Invited) => {
    const { status } = await visitor.accept(link);
    expect((await fetch(link.replace('localhost', '127.0.0.1'))).status).toBe(404);
    expect(await usersOf(email)).toEqual([]);
    return status;
  };

  test('is one that never was', async () => {
    for (const token of ['0'.repeat(64), 'x', 'A'.repeat(64), `${'0'.repeat(64)}0`, '%00', "'--"]) {
      expect((await visitor.post(`/invitations/${token}`, { password: PASSWORD })).status).toBe(404);
    }
  });

  test('is one that has expired', async () => {
    const invitation = await invited(root);
    await server.sql(`update invitations set expires_at = clock_timestamp() where id = $1`, [invitation.id]);
    expect(await lets(invitation)).toBe(404);
    expect((await root.get(INVITATIONS)).list('invitations')).toContainEqual(
      expect.objectContaining({ id: invitation.id, status: 'expired' }));
  });

  test('is one that was voided, once', async () => {
    const invitation = await invited(root);
    (await root.delete(`${INVITATIONS}/${invitation.id}`)).expect(204);
    (await root.delete(`${INVITATIONS}/${invitation.id}`)).expect(404);
    expect(await lets(invitation)).toBe(404);
    // The address may be invited again.
    (await root.post(INVITATIONS, { email: invitation.email, role: 'viewer' })).expect(201);
  });

  test.each<[string, 'member' | 'admin', 'admin' | 'owner']>([
    ['to who may not invite', 'member', 'admin'], ['below what was given', 'admin', 'owner'],
  ])('is one whose inviter was lowered %s', async (_, lowered, was) => {
    const inviter = await aPerson(server, was);
    const invitation = await invited(inviter.client, was);
    (await root.patch(`/api/v1/users/${inviter.id}`, { role: lowered })).expect(200);
    const { status } = await visitor.accept(invitation.link);
    expect(status).toBe(404);
    expect(await usersOf(invitation.email)).toEqual([]);
    expect((await root.get(INVITATIONS)).list('invitations')).toContainEqual(
      expect.objectContaining({ id: invitation.id, status: 'voided' }));
  });

  test('is one whose inviter has gone', async () => {
    const inviter = await aPerson(server, 'admin');
    const invitation = await invited(inviter.client);
    await closeAccount(server, inviter);
    expect((await visitor.accept(invitation.link)).status).toBe(404);
    expect(await usersOf(invitation.email)).toEqual([]);
  });

  test('is one whose address got an account meanwhile', async () => {
    const invitation = await invited(root);
    (await root.post('/api/v1/users', { email: invitation.email })).expect(201);
    expect((await visitor.accept(invitation.link)).status).toBe(409);
    expect(await server.sql('select 1 from passwords p join users u on u.id = p.user_id where u.email_folded = $1', [invitation.email]))
      .toEqual([]);
  });
});

describe('nobody invites', () => {
  test.each<['viewer' | 'member' | 'admin', string, number]>([
    ['viewer', 'viewer', 403], ['member', 'viewer', 403], ['admin', 'owner', 403], ['admin', 'admin', 201],
  ])('as %s to %s: %d', async (role, to, status) => {
    const { client } = await aPerson(server, role);
    (await client.post(INVITATIONS, { email: anAddress(), role: to })).expect(status);
  });

  test('to another organization than theirs, nor sees or voids what is there', async () => {
    const elsewhere = await anOrganization(server);
    const { client } = await aPerson(server, 'owner');
    (await client.post(INVITATIONS, { email: anAddress(), role: 'viewer', organizationId: elsewhere })).expect(404);
    const { id } = await invited(root, 'viewer', { organizationId: elsewhere });
    expect((await client.get(INVITATIONS)).list('invitations').map((one) => (one as { id: string }).id)).not.toContain(id);
    (await client.delete(`${INVITATIONS}/${id}`)).expect(404);
  });

  test('an address twice, and voids no invitation to a role above their own', async () => {
    const { client } = await aPerson(server, 'admin');
    const { id, email } = await invited(root, 'owner');
    (await client.post(INVITATIONS, { email: email.toUpperCase(), role: 'viewer' })).expect(409, 'CONFLICT');
    (await client.delete(`${INVITATIONS}/${id}`)).expect(403);
  });

  test.each([[{ role: 'viewer' }], [{ email: 'x', role: 'viewer' }], [{ email: 'a@b.c' }], [{ email: 'a@b.c', role: 'root' }],
    [{ email: 'a@b.c\r\nBcc: d@e.f', role: 'viewer' }], [{ email: 'a@b.c', role: 'viewer', name: 'a\nb' }]])('by %j', async (body) => {
    (await root.post(INVITATIONS, body)).expect(400);
  });
});

describe('an account that is there already', () => {
  const without = async (role: BuiltPerson['role'] = 'member') => {
    const person = await aPerson(server, role);
    await server.sql('delete from personal_keys where user_id = $1', [person.id]);
    return person;
  };
  const invite = (by: Client, { email, role }: Pick<BuiltPerson, 'email' | 'role'>) => by.post(INVITATIONS, { email, role });

  test('and that nobody can use yet gets its first way in, and its inviter vouches for it', async () => {
    const admin = await aPerson(server, 'admin');
    const person = await without();
    const link = (await invite(admin.client, person)).expect(201).text('link');
    expect((await visitor.accept(link)).status).toBe(303);
    expect(await usersOf(person.email)).toMatchObject([{ id: person.id, vouched_by: admin.id, role: 'member' }]);
  });

  test('and in use is given away to nobody: an administrator with the link would be a colleague', async () => {
    const admin = await aPerson(server, 'admin');
    const withKey = await aPerson(server, 'member');
    (await invite(admin.client, withKey)).expect(403);
    const withPassword = await without();
    const link = (await invite(root, withPassword)).expect(201).text('link');
    expect((await visitor.accept(link)).status).toBe(303);
    expect(await usersOf(withPassword.email)).toMatchObject([{ vouched_by: null }]);
    (await invite(admin.client, withPassword)).expect(403);
    (await invite(root, withPassword)).expect(201);
  });

  test('that came into use after the link was handed out is not given away by it', async () => {
    const admin = await aPerson(server, 'admin');
    const person = await without();
    const link = (await invite(admin.client, person)).expect(201).text('link');
    (await root.post(`/api/v1/users/${person.id}/keys`, { name: 'first' })).expect(201);
    expect((await visitor.accept(link)).status).toBe(404);
    expect(await server.sql('select 1 from passwords where user_id = $1', [person.id])).toEqual([]);
  });

  test('keeps its role: the invitation changes none', async () => {
    const person = await without('viewer');
    (await root.post(INVITATIONS, { email: person.email, role: 'owner' })).expect(409);
    const admin = await aPerson(server, 'admin');
    (await invite(admin.client, await without('owner'))).expect(403);
  });

  test('loses the sessions that its old password began', async () => {
    const person = await without();
    const { withoutOrigin } = await asSession(server, person, { method: 'password' });
    (await withoutOrigin.get('/api/v1/users/me')).expect(200);
    const link = (await invite(root, person)).expect(201).text('link');
    expect((await visitor.accept(link)).status).toBe(303);
    (await withoutOrigin.get('/api/v1/users/me')).expect(401);
  });
});

test('a subscription without another place invites nobody, and lets nobody in who was invited before it', async () => {
  const tenant = await aTenant(server, 'teams');
  const [organizationId] = tenant.organizationIds;
  const owner = await aPerson(server, 'owner', { organizationId: organizationId! });
  const before = await invited(owner.client);
  await server.sql(`update tenants set tier = 'personal' where id = $1`, [tenant.id]);
  (await owner.client.post(INVITATIONS, { email: anAddress(), role: 'viewer' })).expect(403, 'TIER_REQUIRED');
  expect((await visitor.accept(before.link)).status).toBe(403);
  expect(await usersOf(before.email)).toEqual([]);
  await server.sql(`update tenants set tier = 'teams' where id = $1`, [tenant.id]);
  expect((await visitor.accept(before.link)).status).toBe(303);
});
