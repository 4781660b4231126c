import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { anonymous, as, asRoot, type Client } from '../../support/http/actors.js';
import { claimsOf, signToken } from '../../support/builders/agent-token.js';
import { anAgent } from '../../support/builders/agents.js';
import { type TestProvider, startProvider } from '../../support/sign-in/oidc-provider.js';
import { anOrganization, aPerson } from '../../support/builders/people.js';
import { startServer, type TestServer } from '../../support/servers/server.js';
import { asInternal, asSession, aTenant, INTERNAL, INTERNAL_KEY } from '../../support/builders/tenants.js';
import { ROOT_KEY } from '../../support/servers/test-run.js';

const TENANTS = '/internal/v1/tenants';
const VERIFY = '/internal/v1/auth/verify';

let provider: TestProvider;
let server: TestServer;
let internal: Client;

beforeAll(async () => {
  provider = await startProvider();
  server = await startServer({ env: { ...provider.env, ...INTERNAL } });
  await provider.serves(server);
  internal = asInternal(server);
});

afterAll(async () => {
  await server.stop();
  await provider.close();
});

describe('the internal key', () => {
  test('is a bearer, and nothing else', async () => {
    const nobody = anonymous(server);
    (await internal.get(TENANTS)).expect(200);
    const spellings: Record<string, Record<string, string>> = {
      'as x-api-key': { 'x-api-key': INTERNAL_KEY },
      'as a cookie': { cookie: `countersign=${INTERNAL_KEY}` },
      'without Bearer': { authorization: INTERNAL_KEY },
      'by Basic': { authorization: `Basic ${Buffer.from(`internal:${INTERNAL_KEY}`).toString('base64')}` },
      'with two spaces': { authorization: `Bearer  ${INTERNAL_KEY}` },
      'with a space inside': { authorization: `Bearer ${INTERNAL_KEY} x` },
      'a character more': { authorization: `Bearer ${INTERNAL_KEY}=` },
      'a character less': { authorization: `Bearer ${INTERNAL_KEY.slice(0, -1)}` },
      'another last character': { authorization: `Bearer ${INTERNAL_KEY.slice(0, -1)}A` },
      'in the other case': { authorization: `Bearer ${INTERNAL_KEY.toUpperCase()}` },
      'percent-encoded': { authorization: `Bearer ${INTERNAL_KEY.replace('q', '%71')}` },
    };
    for (const [how, headers] of Object.entries(spellings)) {
      const answer = await nobody.with(headers).get(TENANTS);
      expect([how, answer.status]).toEqual([how, 401]);
    }
    (await nobody.get(`${TENANTS}?key=${INTERNAL_KEY}`)).expect(401);
  });

  test('opens nothing beside, and names nobody together with another credential', async () => {
    for (const path of ['/api/v1/agents', '/api/v1/users', '/api/v1/organizations', '/api/v1/audit', '/api/v1/users/me']) {
      (await internal.get(path)).expect(403, 'FORBIDDEN');
    }
    (await internal.post('/api/v1/execute', { capability: 'web.search' })).expect(403, 'FORBIDDEN');
    (await internal.with({ 'x-api-key': ROOT_KEY }).get(TENANTS)).expect(401, 'UNAUTHENTICATED');
    const session = await asSession(server, await aPerson(server, 'owner'));
    (await internal.with({ cookie: session.cookie }).get(TENANTS)).expect(401, 'UNAUTHENTICATED');
  });

  test('nobody else reads or makes tenants, but root', async () => {
    const { id } = await aTenant(server, 'enterprise');
    const organizationId = await anOrganization(server, { tenantId: id });
    const owner = await aPerson(server, 'owner', { organizationId });
    const agent = await anAgent(server).inOrganization(organizationId).create();
    const others = [
      owner.client, agent.client, (await asSession(server, owner)).client,
      as(server, await provider.accessToken('boss', { tenant_id: id, role: 'owner', tier: 'enterprise' })),
    ];
    for (const client of others) {
      for (const answer of [
        await client.get(TENANTS), await client.get(`${TENANTS}/${id}`), await client.post(TENANTS, { name: 'x' }),
        await client.patch(`${TENANTS}/${id}`, { name: 'x' }), await client.delete(`${TENANTS}/${id}`),
        await client.put(`${TENANTS}/${id}/subscription`, { tier: 'enterprise', active: true }),
        await client.get(`${TENANTS}/${id}/usage`), await client.post(VERIFY, { token: 'x' }),
      ]) answer.expect(403, 'FORBIDDEN');
    }
    (await asRoot(server).get(`${TENANTS}/${id}`)).expect(200);
  });
});

describe('an agent\'s token that names a tenant', () => {
  test('holds where the tenant is its organization\'s, at the gate and elsewhere, and nowhere else', async () => {
    const { id, organizationIds: [organizationId] } = await aTenant(server, 'teams');
    const other = await aTenant(server, 'teams');
    const agent = await anAgent(server).inOrganization(organizationId!).granted('web.search').create();
    const outside = await anAgent(server).granted('web.search').create();
    const naming = (token: string, tenant: unknown) => as(server, signToken({ ...claimsOf(token), tenant_id: tenant }));
    const answers = async (client: Client) => [
      (await client.post('/api/v1/execute', { capability: 'web.search' })).status, (await client.get('/api/v1/executions')).status,
    ];
    expect(await answers(agent.client)).toEqual([200, 200]);
    expect(await answers(naming(agent.token, id))).toEqual([200, 200]);
    for (const tenant of [other.id, organizationId, 'ten_00000000000000000000000000absent0000', '', null, [id]]) {
      expect(await answers(naming(agent.token, tenant))).toEqual([401, 401]);
    }
    expect(await answers(naming(outside.token, id))).toEqual([401, 401]);
  });
});

describe('verifying a token of the provider', () => {
  const verify = (token: string) => internal.post(VERIFY, { token });

  test('tells who it is and what counts here; of somebody unknown, that nobody knows them; and makes no account', async () => {
    const { id, organizationIds: [organizationId] } = await aTenant(server, 'teams');
    const token = await provider.accessToken('vera', { tenant_id: id, role: 'admin', tier: 'enterprise', has_subscription: true });
    const accounts = async () => (await server.sql('select id from users where organization_id = $1', [organizationId])).length;
    expect((await verify(token)).expect(200).at('claims')).toEqual({
      sub: 'vera', user_id: null, tenant_id: null, tier: null, role: null, has_subscription: true, iat: expect.any(Number),
      exp: expect.any(Number),
    });
    expect(await accounts()).toBe(0);
    const userId = (await as(server, token).get('/api/v1/users/me')).expect(200).text('user.id');
    expect((await verify(token)).expect(200).at('claims')).toMatchObject({
      sub: 'vera', user_id: userId, tenant_id: id, tier: 'teams', role: 'admin',
    });
    // The lower role counts, and a subscription that the provider says is not paid.
    await server.sql(`update users set role = 'viewer' where id = $1`, [userId]);
    const unpaid = await provider.accessToken('vera', { tenant_id: id, role: 'owner', has_subscription: false });
    expect((await asRoot(server).post(VERIFY, { token: unpaid })).expect(200).at('claims')).toMatchObject({
      user_id: userId, tier: 'personal', role: 'viewer', has_subscription: false,
    });
    await server.sql(`update tenants set subscription_active = false where id = $1`, [id]);
    expect((await verify(token)).expect(200).at('claims.tier')).toBe('personal');
  });

  test('what opens nothing here is refused at /token', async () => {
    const { id } = await aTenant(server, 'teams');
    const { id: other } = await aTenant(server, 'teams');
    (await as(server, await provider.accessToken('sam', { tenant_id: id })).get('/api/v1/users/me')).expect(200);
    const agent = await anAgent(server).create();
    const tokens = {
      'no token': 'x', 'an agent’s': agent.token, 'root’s key': ROOT_KEY,
      'a stranger’s signature': await provider.accessToken('sam', {}, { by: 'stranger' }),
      'no signature': await provider.accessToken('sam', {}, { by: 'none' }),
      'one that is over': await provider.accessToken('sam', { exp: 1_700_000_000, iat: 1_699_999_000 }),
      'another tenant': await provider.accessToken('sam', { tenant_id: other }),
      'another user': await provider.accessToken('sam', { tenant_id: id, user_id: 'usr_00000000000000000000000000absent0000' }),
      'an unknown role': await provider.accessToken('sam', { role: 'god' }),
    };
    for (const [what, token] of Object.entries(tokens)) {
      const answer = await verify(token);
      expect([what, answer.status]).toEqual([what, 400]);
      expect(answer.at('errors.0.pointer')).toBe('/token');
      expect(JSON.stringify(answer.body)).not.toContain(token.length > 20 ? token : 'no such text');
    }
  });
});

test('a provider that says that nothing is paid takes away; one that claims a tier gives nothing', async () => {
  const [teams, personal] = [await aTenant(server, 'teams'), await aTenant(server, 'personal')];
  const owner = async (sub: string, tenant: string, more: Record<string, unknown>) =>
    as(server, await provider.accessToken(sub, { tenant_id: tenant, role: 'owner', ...more }));
  const make = (client: Client) => client.post('/api/v1/teams', { name: 'by claim' });
  (await make(await owner('paying', teams.id, { has_subscription: true }))).expect(201);
  const unpaid = await make(await owner('paying', teams.id, { has_subscription: false, tier: 'enterprise' }));
  expect(unpaid.expect(403, 'TIER_REQUIRED').at('requiredTier')).toBe('teams');
  const claiming = await owner('alone', personal.id, { has_subscription: true, tier: 'enterprise' });
  (await make(claiming)).expect(403, 'TIER_REQUIRED');
  // The one account that it includes is the claimant's: the next user of the provider does not come in.
  const second = await (await owner('second', personal.id, { tier: 'enterprise' })).get('/api/v1/users/me');
  expect(second.expect(403, 'TIER_REQUIRED').at('requiredTier')).toBe('teams');
});

test('without a provider and without an internal key everything is as it was: root opens /internal/v1, nothing is limited', async () => {
  const plain = await startServer({ env: { INTERNAL_API_KEY: '' } });
  try {
    (await as(plain, INTERNAL_KEY).get(TENANTS)).expect(401, 'UNAUTHENTICATED');
    const root = asRoot(plain);
    expect((await root.get(TENANTS)).expect(200).at('total')).toBe(0);
    (await root.post(VERIFY, { token: 'x' })).expect(400, 'VALIDATION_FAILED');
    for (let i = 0; i < 3; i++) (await root.post('/api/v1/users', { email: `open${i}@source.test`, role: 'owner' })).expect(201);
    const owner = await aPerson(plain, 'owner');
    const team = (await owner.client.post('/api/v1/teams', { name: 'all' })).expect(201).text('team.id');
    (await owner.client.post('/api/v1/capabilities/grant', { teamId: team, capability: 'web.search' })).expect(201);
    (await owner.client.get('/api/v1/audit/export')).expect(200);
    (await root.post('/api/v1/organizations', { name: 'Second' })).expect(201);
  } finally {
    await plain.stop();
  }
});
