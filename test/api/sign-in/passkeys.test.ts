import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { anonymous, asRoot, type Client, type Reply } from '../../support/http/actors.js';
import { Authenticator, type Falsehood } from '../../support/sign-in/authenticator.js';
import { aPerson, type BuiltPerson } from '../../support/builders/people.js';
import { startServer, type TestServer } from '../../support/servers/server.js';
import { asSession, originOf } from '../../support/builders/tenants.js';

let server: TestServer;
let origin: string;

beforeAll(async () => {
  server = await startServer();
  origin = originOf(server);
});

afterAll(() => server.stop());

const AUTH = '/api/v1/auth';
const cookieOf = (reply: Reply, name: string): string | undefined =>
  reply.headers.getSetCookie().find((line) => line.startsWith(`${name}=`))?.split(';')[0];

/** A browser on a page of the server's own, that was given the cookie of its forms. */
async function aBrowser(): Promise<Client> {
  const client = anonymous(server).with({ origin });
  const cookie = cookieOf((await client.post(`${AUTH}/passkey/options`)).expect(200), 'countersign-form');
  return client.with({ cookie: cookie! });
}

const challengeFor = async (browser: Client) =>
  (await browser.post<{ challenge: string }>(`${AUTH}/passkey/options`)).expect(200).body;

/** A person with a passkey, added within a session that has just begun. */
async function withPasskey(role: BuiltPerson['role'] = 'member'): Promise<{ person: BuiltPerson; key: Authenticator; session: Client }> {
  const person = await aPerson(server, role);
  const { client: session } = await asSession(server, person);
  const key = new Authenticator(origin);
  const options = (await session.post<never>(`${AUTH}/passkeys/options`)).expect(200).body;
  (await session.post(`${AUTH}/passkeys`, { response: key.create(options), name: 'phone' })).expect(201);
  return { person, key, session };
}

const signIn = async (browser: Client, key: Authenticator, lie: Falsehood = {}) =>
  browser.post(`${AUTH}/passkey`, { response: key.get(await challengeFor(browser), lie) });

interface Entries {
  readonly entries: readonly { readonly metadata: Readonly<Record<string, unknown>> }[];
}

/** The metadata of the entries of an event, the newest first. */
const recorded = async (event: string, query: Record<string, string> = {}) =>
  (await asRoot(server).get<Entries>('/api/v1/audit', { query: { event_type: event, ...query } }))
    .expect(200).body.entries.map(({ metadata }) => metadata);

describe('signing in by a passkey', () => {
  test('gives a session, tells who it is, and leads to a path of ours alone', async () => {
    const { person, key } = await withPasskey();
    const browser = await aBrowser();
    for (const [returnTo, wanted] of [['/docs', '/docs'], ['//evil.example', '/sign-in'], [undefined, '/sign-in']]) {
      const response = key.get(await challengeFor(browser));
      const reply = (await browser.post(`${AUTH}/passkey`, { response, returnTo })).expect(200);
      expect([reply.at('user.id'), reply.at('returnTo')]).toEqual([person.id, wanted]);
      const session = anonymous(server).with({ cookie: cookieOf(reply, 'countersign')! });
      expect((await session.get(`${AUTH}/me`)).expect(200).at('session.method')).toBe('passkey');
    }
  });

  test('ends the session that the browser had', async () => {
    const [ada, bob] = [await withPasskey(), await withPasskey()];
    const browser = await aBrowser();
    const first = cookieOf((await signIn(browser, ada.key)).expect(200), 'countersign')!;
    const both = anonymous(server).with({ origin, cookie: first });
    const options = (await both.post<{ challenge: string }>(`${AUTH}/passkey/options`)).expect(200).body;
    const reply = (await both.post(`${AUTH}/passkey`, { response: bob.key.get(options) })).expect(200);
    expect(reply.at('user.id')).toBe(bob.person.id);
    (await anonymous(server).with({ cookie: first }).get(`${AUTH}/me`)).expect(401);
  });

  describe('is refused, and no session begins', () => {
    let made: Awaited<ReturnType<typeof withPasskey>>;
    let browser: Client;
    beforeAll(async () => {
      made = await withPasskey();
      (await signIn(await aBrowser(), made.key)).expect(200);
    });
    beforeEach(async () => {
      browser = await aBrowser();
    });

    const sessions = async () => Number((await server.sql<{ n: number }>(
      'select count(*)::int as n from sessions where user_id = $1', [made.person.id]))[0]!.n);
    async function refused(answer: () => Promise<Reply>): Promise<void> {
      const before = await sessions();
      const reply = (await answer()).expect(401, 'UNAUTHENTICATED');
      expect(reply.at('detail')).toMatch(/^Nobody can sign in by this passkey here/);
      expect(cookieOf(reply, 'countersign')).toBeUndefined();
      expect(await sessions()).toBe(before);
    }

    test.each<[string, Falsehood]>([
      ['of another origin', { origin: 'https://evil.example' }],
      ['of another port', { origin: 'http://localhost:1' }],
      ['for another host', { rpId: 'evil.example' }],
      ['of making one', { type: 'webauthn.create' }],
      ['by nobody in particular', { verified: false }],
      ['to a challenge that is none', { challenge: 'AAAA' }],
      ['to a challenge of its own', { challenge: Buffer.alloc(54).toString('base64url') }],
      ['of another person', { userHandle: Buffer.from('usr_0000000000000000000000000000000000aa').toString('base64url') }],
      ['of an unknown credential', { credentialId: 'AAAA' }],
      ['that counts backwards', { counter: 1 }],
      ['that does not count any more', { counter: 0 }],
    ])('an answer %s', async (_, lie) => {
      await refused(() => signIn(browser, made.key, lie));
    });

    test('an answer that came before, also of many at once', async () => {
      const response = made.key.get(await challengeFor(browser));
      const all = await Promise.all(Array.from({ length: 8 }, () => browser.post(`${AUTH}/passkey`, { response })));
      expect(all.map(({ status }) => status).sort()).toEqual([200, ...Array<number>(7).fill(401)]);
      await refused(() => browser.post(`${AUTH}/passkey`, { response }));
    });

    test('an answer to what another browser was asked', async () => {
      const options = await challengeFor(await aBrowser());
      await refused(() => browser.post(`${AUTH}/passkey`, { response: made.key.get(options) }));
    });

    test('an answer to what is asked for a passkey that is made', async () => {
      const options = (await made.session.post<{ challenge: string }>(`${AUTH}/passkeys/options`)).expect(200).body;
      await refused(() => browser.post(`${AUTH}/passkey`, { response: made.key.get(options) }));
    });

    test('another authenticator that says it is this one', async () => {
      const other = new Authenticator(origin);
      other.counter = 100;
      const userHandle = made.key.userHandle;
      await refused(() => signIn(browser, other, { credentialId: made.key.id, userHandle }));
    });

    test('the passkey of a closed account', async () => {
      const { person, key } = await withPasskey();
      (await asRoot(server).delete(`/api/v1/users/${person.id}`)).expect(204);
      await refused(() => signIn(browser, key));
    });

    test.each<[string, unknown]>([
      ['nothing', {}], ['a list', { id: ['a'], rawId: ['a'], type: 'public-key', response: {} }],
      ['no text', { id: 'AAAA', rawId: 'AAAA', type: 'public-key', response: { clientDataJSON: 7 } }],
      ['no JSON', { id: 'AAAA', rawId: 'AAAA', type: 'public-key', response: {
        clientDataJSON: 'AAAA', authenticatorData: 'AAAA', signature: 'AAAA', userHandle: 'AAAA' } }],
    ])('an answer of %s', async (_, response) => {
      await refused(() => browser.post(`${AUTH}/passkey`, { response }));
    });

    test('garbage in place of what the authenticator signed', async () => {
      const response = made.key.get(await challengeFor(browser)) as { response: Record<string, string> };
      for (const part of ['clientDataJSON', 'authenticatorData', 'signature']) {
        const changed = { ...response, response: { ...response.response, [part]: 'AAAA' } };
        await refused(() => browser.post(`${AUTH}/passkey`, { response: changed }));
      }
    });

    test('and a counter that goes back is told as such', async () => {
      await refused(() => signIn(browser, made.key, { counter: 1 }));
      // The first of a minute and address is told at once, the others as one count.
      expect((await recorded('auth.failed')).some(({ reason }) => String(reason).includes('passkey'))).toBe(true);
    });
  });

  test('is for pages of ours: a page from elsewhere neither asks nor answers', async () => {
    for (const path of ['passkey/options', 'passkey']) {
      for (const headers of [{}, { origin: 'null' }, { origin: 'https://evil.example' }, { origin: 'http://localhost:1' }]) {
        const browser = anonymous(server).with(headers as Record<string, string>);
        (await browser.post(`${AUTH}/${path}`, { response: {} })).expect(403, 'FORBIDDEN');
      }
    }
  });
});

describe('own passkeys', () => {
  test('are listed and removed, but for the last way in, and nobody else has to do with them', async () => {
    const { person, session } = await withPasskey();
    const { client: stranger } = await asSession(server, await aPerson(server, 'owner'));
    const id = (await session.get(`${AUTH}/passkeys`)).expect(200).text('passkeys.0.id');
    (await stranger.delete(`${AUTH}/passkeys/${id}`)).expect(404);
    (await session.delete(`${AUTH}/passkeys/${id}`)).expect(409, 'CONFLICT');
    const key = new Authenticator(origin);
    const options = (await session.post<never>(`${AUTH}/passkeys/options`)).expect(200).body;
    (await session.post(`${AUTH}/passkeys`, { response: key.create(options) })).expect(201);
    (await session.delete(`${AUTH}/passkeys/${id}`)).expect(204);
    (await session.delete(`${AUTH}/passkeys/${id}`)).expect(404);
    const changes = (await recorded('auth.credential_changed', { user_id: person.id })).map(({ change }) => change);
    expect(changes).toEqual(['removed', 'added', 'added']);
  });

  test('are added only by whoever has just come in, and to their own account', async () => {
    const person = await aPerson(server, 'member');
    const { client: old } = await asSession(server, person, { age: 700 });
    (await old.post(`${AUTH}/passkeys/options`)).expect(403, 'FORBIDDEN');
    (await old.post(`${AUTH}/passkeys/options`, { current: 'no such password' })).expect(403, 'FORBIDDEN');
    (await person.client.post(`${AUTH}/passkeys/options`)).expect(400, 'VALIDATION_FAILED');
    const { client: fresh } = await asSession(server, person);
    const { client: another } = await asSession(server, await aPerson(server, 'member'));
    const key = new Authenticator(origin);
    const response = key.create((await fresh.post<never>(`${AUTH}/passkeys/options`)).expect(200).body);
    for (const session of [another, old, (await asSession(server, person)).client]) {
      (await session.post(`${AUTH}/passkeys`, { response })).expect(400, 'VALIDATION_FAILED');
    }
    (await fresh.post(`${AUTH}/passkeys`, { response })).expect(201);
    (await fresh.post(`${AUTH}/passkeys`, { response })).expect(400, 'VALIDATION_FAILED');
  });

  test.each<[string, Falsehood]>([
    ['of another origin', { origin: 'https://evil.example' }], ['for another host', { rpId: 'evil.example' }],
    ['of signing in', { type: 'webauthn.get' }], ['by nobody in particular', { verified: false }],
    ['to another challenge', { challenge: 'AAAA' }],
  ])('none is made by an answer %s', async (_, lie) => {
    const { client } = await asSession(server, await aPerson(server, 'member'));
    const options = (await client.post<never>(`${AUTH}/passkeys/options`)).expect(200).body;
    (await client.post(`${AUTH}/passkeys`, { response: new Authenticator(origin).create(options, lie) })).expect(400, 'VALIDATION_FAILED');
    expect((await client.get(`${AUTH}/passkeys`)).expect(200).at('total')).toBe(0);
  });
});

describe('an invitation', () => {
  const invited = async (email: string) => {
    const { link } = (await asRoot(server).post<{ link: string }>('/api/v1/users/invitations', { email, role: 'member' })).expect(201).body;
    return link.split('/').at(-1)!;
  };

  test('is taken with a passkey once, by one of many', async () => {
    const path = `${AUTH}/invitations/${await invited('first@example.test')}/passkey`;
    const key = new Authenticator(origin);
    const browser = await aBrowser();
    const response = key.create((await browser.post<never>(`${path}/options`)).expect(200).body);
    const all = await Promise.all(Array.from({ length: 5 }, () => browser.post(path, { response })));
    expect(all.map(({ status }) => status).sort()).toEqual([200, ...Array<number>(4).fill(404)]);
    const [row] = await server.sql<{ id: string; n: number }>(
      `select min(id) as id, count(*)::int as n from users where email = 'first@example.test'`);
    expect([row!.n, Buffer.from(key.userHandle, 'base64url').toString()]).toEqual([1, row!.id]);
    (await signIn(await aBrowser(), key)).expect(200);
    (await browser.post(`${path}/options`)).expect(404);
  });

  test('is not taken with an answer to another, or by another browser', async () => {
    const one = await invited('one@example.test');
    const browser = await aBrowser();
    const options = (await browser.post<never>(`${AUTH}/invitations/${one}/passkey/options`)).expect(200).body;
    const response = new Authenticator(origin).create(options);
    (await (await aBrowser()).post(`${AUTH}/invitations/${one}/passkey`, { response })).expect(400);
    (await browser.post(`${AUTH}/invitations/${'0'.repeat(64)}/passkey`, { response })).expect(404);
    expect(await server.sql(`select 1 from users where email = 'one@example.test'`)).toEqual([]);
  });
});
