import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { as, type Client, asRoot } from '../../support/http/actors.js';
import { anAgent } from '../../support/builders/agents.js';
import { type ClaimsOfUser, type ForgedToken, startProvider, type TestProvider } from '../../support/sign-in/oidc-provider.js';
import { firstOrganization } from '../../support/builders/people.js';
import { realTokens } from '../../support/sign-in/provider-people.js';
import { startServer, type TestServer } from '../../support/servers/server.js';

let provider: TestProvider;
let server: TestServer;
/** A replica that knows no provider. */
let without: TestServer;

beforeAll(async () => {
  provider = await startProvider();
  server = await startServer({ env: provider.env });
  await provider.serves(server);
  without = await startServer({ replicaOf: server });
});

afterAll(async () => {
  await without?.stop();
  await server?.stop();
  await provider?.close();
});

const me = (client: Client) => client.get('/api/v1/users/me');
const count = async (text: string) => Number((await server.sql<{ n: string }>(text))[0]!.n);
const accounts = () => count('select count(*) as n from users');
const failures = () => count(`select count(*) as n from audit_entries where event = 'auth.failed'`);

describe('a token that the provider has given', () => {
  test('lets its user in, with an account made at first sight and the claimed role', async () => {
    const { accessToken } = await realTokens(server, provider, 'ada', { role: 'admin', name: 'Ada' });
    const reply = (await me(as(server, accessToken))).expect(200);
    expect(reply.at('user')).toMatchObject({
      email: 'ada@example.test', name: 'Ada', role: 'admin', organizationId: await firstOrganization(server), status: 'active',
    });
    // A second call, and a second token, find the same account.
    const again = await realTokens(server, provider, 'ada', { role: 'admin', name: 'Ada' });
    for (const token of [accessToken, again.accessToken]) expect((await me(as(server, token))).text('user.id')).toBe(reply.text('user.id'));
    const entries = (await asRoot(server).get('/api/v1/audit', { query: { event: 'admin.user_created' } })).list('entries');
    expect(entries).toEqual([expect.objectContaining({
      actorId: 'system', metadata: expect.objectContaining({ userId: reply.text('user.id'), occasion: 'provider', role: 'admin' }),
    })]);
  });

  test('is no credential where it is an id token, and none at a server without a provider', async () => {
    const { accessToken, idToken } = await realTokens(server, provider, 'ada', { role: 'admin' });
    (await me(as(server, idToken))).expect(401, 'UNAUTHENTICATED');
    (await me(as(without, accessToken))).expect(401, 'UNAUTHENTICATED');
  });

  test('is not taken for an agent’s, nor an agent’s for the provider’s', async () => {
    const agent = await anAgent(server).create();
    (await as(server, agent.token).get(`/api/v1/agents/${agent.id}`)).expect(200);
    const claims = { agent_id: agent.id, org_id: await firstOrganization(server), capabilities: [] };
    const person = as(server, await provider.accessToken(agent.id, claims));
    // A viewer's account, and none of an agent's rights.
    expect((await me(person)).expect(200).at('user.role')).toBe('viewer');
    (await person.post(`/api/v1/agents/${agent.id}/token/refresh`, {})).expect(403, 'FORBIDDEN');
  });
});

const past = () => Math.floor(Date.now() / 1_000);

interface Bad {
  readonly claims?: ClaimsOfUser;
  readonly forged?: Omit<ForgedToken, 'claims'>;
}

const BAD: readonly (readonly [string, Bad | (() => Bad)])[] = [
  ['by nothing', { forged: { by: 'none' } }],
  ['by the client secret', { forged: { by: 'secret' } }],
  ['by the public key as a secret', { forged: { by: 'public' } }],
  ['by an algorithm that the provider has and we do not take', { forged: { by: 'other-alg' } }],
  ['by a stranger’s key under the provider’s name', { forged: { by: 'stranger' } }],
  ['by an algorithm other than the key’s', { forged: { header: { alg: 'PS256' } } }],
  ['by a key that nobody knows', { forged: { header: { kid: 'nobody' } } }],
  ['by a key of a huge name', { forged: { header: { kid: 'k'.repeat(6_000) } } }],
  ['by a key named in SQL', { forged: { header: { kid: `' or 1=1; --` } } }],
  ['by a key that is a number', { forged: { header: { kid: 1 } } }],
  ['that brings its key along', { forged: { header: { jwk: { kty: 'oct', k: 'AAAA' } } } }],
  ['that says where its key is', { forged: { header: { jku: 'http://127.0.0.1:9/keys' } } }],
  ['that says where its certificate is', { forged: { header: { x5u: 'http://127.0.0.1:9/cert' } } }],
  ['with an extension that must be understood', { forged: { header: { crit: ['exp'] } } }],
  ['of the type of logout tokens', { forged: { header: { typ: 'logout+jwt' } } }],
  ['with a claim twice', () => ({ forged: { text: `{"iss":"${provider.issuer}","sub":"eve","sub":"ada","aud":"${provider.audience}",`
    + `"iat":${past()},"exp":${past() + 600}}` } })],
  ['with claims that are no JSON', { forged: { text: 'claims' } }],
  ['without an end', { claims: { exp: null } }],
  ['that has ended', () => ({ claims: { exp: past() - 1 } })],
  ['that ends in words', { claims: { exp: 'never' } }],
  ['without a beginning', { claims: { iat: null } }],
  ['of the future', () => ({ claims: { iat: past() + 3_600, exp: past() + 7_200 } })],
  ['that is not good yet', () => ({ claims: { nbf: past() + 3_600 } })],
  ['for another audience', { claims: { aud: 'other-api' } }],
  ['for no audience', { claims: { aud: null } }],
  ['of another issuer with our user', { claims: { iss: 'https://id.example' } }],
  ['of the issuer with a slash', () => ({ claims: { iss: `${provider.issuer}/` } })],
  ['that is an id token', { claims: { at_hash: 'x' } }],
  ['that is an id token by its nonce', { claims: { nonce: 'n' }, forged: { header: { typ: 'JWT' } } }],
  ['that is an id token as it is renewed', { claims: { client_id: null }, forged: { header: { typ: 'JWT' } } }],
  ['that is a logout token', { claims: { events: {} } }],
  ['that is bound to a key', { claims: { cnf: { jkt: 'x' } } }],
  ['of a client, for no person', () => ({ claims: { sub: provider.clientId } })],
  ['of nobody', { claims: { sub: null } }],
  ['of a user with a blank', { claims: { sub: 'a da' } }],
  ['of a user with too long a name', { claims: { sub: 'a'.repeat(256) } }],
  ['with a role that nobody knows', { claims: { role: 'root' } }],
  ['with roles in a list', { claims: { role: ['admin'] } }],
  ['with a tenant of another form', { claims: { tenant_id: '*' } }],
  ['with a user of another form', { claims: { user_id: 'root' } }],
  ['with a subscription in words', { claims: { has_subscription: 'yes' } }],
];

describe('a token that does not hold', () => {
  test('is refused as one, whatever is wrong with it, and makes no account', async () => {
    const before = await accounts();
    for (const [what, bad] of BAD) {
      const { claims, forged } = typeof bad === 'function' ? bad() : bad;
      const token = await provider.accessToken('eve', { email: 'eve@example.test', email_verified: true, ...claims }, forged);
      const reply = await me(as(server, token));
      expect([what, reply.status, reply.at('code')]).toEqual([what, 401, 'UNAUTHENTICATED']);
    }
    expect(await accounts()).toBe(before);
    // The first of a minute and address is told at once, the others as a count.
    expect(await failures()).toBeGreaterThan(0);
  });

  test('shows nothing of the provider, and the right one of the same user is taken', async () => {
    const bad = await me(as(server, await provider.accessToken('eve', {}, { by: 'stranger' })));
    expect(bad.expect(401).text('detail')).toBe('This credential does not hold: the signature does not hold.');
    (await me(as(server, await provider.accessToken('eve', { role: 'viewer' })))).expect(200);
  });

  test('is refused with its signature cut off, emptied, or from another token', async () => {
    const [one, other] = [await provider.accessToken('eve'), await provider.accessToken('ada')];
    const [head, body] = one.split('.') as [string, string];
    for (const token of [`${head}.${body}.`, `${head}.${body}`, `${head}.${body}.${other.split('.')[2]!}`, `${one}.${one}`, `${one}A`]) {
      (await me(as(server, token))).expect(401, 'UNAUTHENTICATED');
    }
  });

  test('is no credential beside another principal’s', async () => {
    const token = await provider.accessToken('eve');
    (await me(as(server, token).with({ 'x-api-key': 'svc_root_' + '0'.repeat(64) }))).expect(401);
    (await me(as(server, 'x'.repeat(17_000)))).expect(431);
  });
});
