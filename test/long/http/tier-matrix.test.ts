import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { reachOf, type AccessKey } from '../../../src/domain/access/access.js';
import type { Tier } from '../../../src/domain/access/tiers.js';
import { asRoot, type Client, type Reply } from '../../support/http/actors.js';
import { anAgent } from '../../support/builders/agents.js';
import { type ClaimsOfUser, startProvider, type TestProvider } from '../../support/sign-in/oidc-provider.js';
import { aPerson, anOrganization, aTeam, type BuiltPerson } from '../../support/builders/people.js';
import { asProvider } from '../../support/sign-in/provider-people.js';
import { anAgentOf, once, targetOf, type ObjectOwner } from '../../support/routes/real-objects.js';
import { callRoute, isPublic, routesOf, type Route } from '../../support/routes/routes.js';
import { startServer, type TestServer } from '../../support/servers/server.js';
import { asInternal, asSession, aTenant, INTERNAL } from '../../support/builders/tenants.js';
import { storedStateOf } from '../../support/log/stored-state.js';

// What each tier includes, at every route: under each subscription, where nothing is there yet, at the limit, and over it after a
// downgrade. Nothing is taken away, and nothing new comes over the limit.

type Subscription = 'personal' | 'teams' | 'enterprise' | 'enterprise, unpaid' | 'no tenant';
type Situation = 'empty' | 'at the limit' | 'over it';

interface TenantGroup {
  readonly organizationId: string;
  readonly tenantId?: string;
  /** Nobody, while it is empty. */
  readonly owner?: BuiltPerson;
  readonly member?: BuiltPerson;
  readonly teamId: string;
}

let provider: TestProvider;
let server: TestServer;
let root: Client;
let names = 0;

beforeAll(async () => {
  provider = await startProvider();
  server = await startServer({ env: { ...provider.env, ...INTERNAL } });
  await provider.serves(server);
  root = asRoot(server);
});

afterAll(async () => {
  await server?.stop();
  await provider?.close();
});

/** Whoever is over a limit was under another subscription when they got there. */
async function aTenantGroup(subscription: Subscription, situation: Situation): Promise<TenantGroup> {
  const isOver = situation === 'over it';
  const tenant = subscription === 'no tenant' ? undefined : await aTenant(server, 'enterprise', { organizations: isOver ? 2 : 1 });
  const organizationId = tenant?.organizationIds[0] ?? (await anOrganization(server));
  const owner = situation === 'empty' ? undefined : await aPerson(server, 'owner', { organizationId });
  const member = isOver ? await aPerson(server, 'member', { organizationId }) : undefined;
  if (isOver && tenant) await aPerson(server, 'viewer', { organizationId: tenant.organizationIds[1]! });
  const teamId = await aTeam(server, organizationId, []);
  if (tenant) {
    const [tier, active] = subscription === 'enterprise, unpaid' ? ['enterprise', false] : [subscription, true];
    (await asInternal(server).put(`/internal/v1/tenants/${tenant.id}/subscription`, { tier, active })).expect(200);
  }
  return { organizationId, teamId, ...(tenant ? { tenantId: tenant.id } : {}), ...(owner ? { owner } : {}), ...(member ? { member } : {}) };
}

type Attempt = (client: Client, group: TenantGroup) => Promise<Reply>;

const ATTEMPTS: Readonly<Record<string, Attempt>> = {
  'POST /users': (client, { organizationId }) => client.post('/api/v1/users', { email: `n${++names}@tier.test`, organizationId }),
  'POST /teams': (client, { organizationId }) => client.post('/api/v1/teams', { name: `n${++names}`, organizationId }),
  'POST /capabilities/grant to a team': (client, { teamId }) =>
    client.post('/api/v1/capabilities/grant', { teamId, capability: 'web.search' }),
  'POST /organizations': (client, { tenantId }) =>
    client.post('/api/v1/organizations', { name: 'n', ...(tenantId === undefined ? {} : { tenantId }) }),
  'GET /audit/export': (client, { organizationId }) => client.get('/api/v1/audit/export', { query: { organizationId } }),
  'POST /teams/:id/members': (client, { teamId, owner }) =>
    client.post(`/api/v1/teams/${teamId}/members`, { userId: owner?.id ?? 'usr_nobody', role: 'member' }),
  'POST /agents into a team': (client, { teamId, organizationId }) =>
    client.post('/api/v1/agents', { name: `n${++names}`, teamId, organizationId }),
};

const SITUATIONS: readonly Situation[] = ['empty', 'at the limit', 'over it'];
const ALWAYS = (tier: Tier): readonly (Tier | undefined)[] => [tier, tier, tier];
const NEVER = [undefined, undefined, undefined] as const;
const LEAST: Readonly<Record<string, readonly (Tier | undefined)[]>> = {
  'POST /users': [undefined, 'teams', 'teams'], 'POST /teams': ALWAYS('teams'), 'POST /capabilities/grant to a team': ALWAYS('teams'),
  'POST /teams/:id/members': ALWAYS('teams'), 'POST /agents into a team': ALWAYS('teams'),
  'POST /organizations': ALWAYS('enterprise'), 'GET /audit/export': ALWAYS('enterprise'),
};
/** What is missing to whom, in each situation; what is not named here is included. */
const MISSING: Readonly<Record<Subscription, Readonly<Record<string, readonly (Tier | undefined)[]>>>> = {
  personal: LEAST,
  teams: { 'POST /organizations': ALWAYS('enterprise'), 'GET /audit/export': ALWAYS('enterprise') },
  enterprise: {},
  'enterprise, unpaid': LEAST,
  'no tenant': {},
};

describe.each(Object.keys(MISSING) as Subscription[])('%s', (subscription) => {
  test.each(SITUATIONS)('%s', async (situation) => {
    const group = await aTenantGroup(subscription, situation);
    const wanted: string[] = [];
    const got: string[] = [];
    for (const [what, attempt] of Object.entries(ATTEMPTS)) {
      // An organization's only owner asks, and root, who is no way around.
      const callers: [string, Client][] = [['root', root], ...(group.owner ? [['owner', group.owner.client] as [string, Client]] : [])];
      for (const [who, client] of callers) {
        // Nobody to add; and an owner outside of any tenant makes no organizations, whatever the subscription.
        if (what === 'POST /teams/:id/members' && !group.owner) continue;
        if (what === 'POST /organizations' && who === 'owner' && subscription === 'no tenant') continue;
        const missing = (MISSING[subscription][what] ?? NEVER)[SITUATIONS.indexOf(situation)];
        // What an earlier attempt has made would count.
        const place = missing === undefined ? await aTenantGroup(subscription, situation) : group;
        const before = missing === undefined ? undefined : await storedStateOf(server, [place.organizationId]);
        const answer = await attempt(missing === undefined && who === 'owner' ? place.owner!.client : client, place);
        const { code, requiredTier } = (answer.body ?? {}) as { code?: string; requiredTier?: string };
        wanted.push(`${what} by ${who}: ${missing === undefined ? 'done' : `403 TIER_REQUIRED ${missing}`}`);
        got.push(`${what} by ${who}: ${answer.status < 300 ? 'done' : `${answer.status} ${code} ${requiredTier}`}`);
        if (before) expect(await storedStateOf(server, [place.organizationId])).toEqual(before);
      }
    }
    expect(got).toEqual(wanted);
  });
});

/** How somebody may come in, and what their provider says of the subscription: only a `no` of it counts, and it takes away. */
const WAYS: Readonly<Record<string, { readonly claims?: ClaimsOfUser; readonly leaves: 'what is subscribed to' | 'personal' }>> = {
  'by session': { leaves: 'what is subscribed to' },
  'by a token that says nothing of it': { claims: {}, leaves: 'what is subscribed to' },
  'by a token that says enterprise, paid and managed': {
    claims: { tier: 'enterprise', has_subscription: true, managed: true }, leaves: 'what is subscribed to',
  },
  'by a token that says personal': { claims: { tier: 'personal' }, leaves: 'what is subscribed to' },
  'by a token that says enterprise, not paid': { claims: { tier: 'enterprise', has_subscription: false }, leaves: 'personal' },
};

describe.each(Object.entries(WAYS))('an owner %s', (_, { claims, leaves }) => {
  const comesIn = async (owner: BuiltPerson): Promise<Client> =>
    claims === undefined ? (await asSession(server, owner)).client : asProvider(server, provider, owner, claims);

  test.each(['personal', 'teams', 'enterprise', 'enterprise, unpaid'] as const)('of %s', async (subscription) => {
    const counts = leaves === 'personal' ? 'personal' : subscription;
    const [wanted, got]: [string[], string[]] = [[], []];
    for (const [what, attempt] of Object.entries(ATTEMPTS)) {
      const group = await aTenantGroup(subscription, 'at the limit');
      const answer = await attempt(await comesIn(group.owner!), group);
      const missing = (MISSING[counts][what] ?? NEVER)[SITUATIONS.indexOf('at the limit')];
      const { code, requiredTier } = (answer.body ?? {}) as { code?: string; requiredTier?: string };
      wanted.push(`${what}: ${missing === undefined ? 'done' : `403 TIER_REQUIRED ${missing}`}`);
      got.push(`${what}: ${answer.status < 300 ? 'done' : `${answer.status} ${code} ${requiredTier}`}`);
    }
    expect(got).toEqual(wanted);
  });
});

test('of personal the first person is one: a single account, then none more, and again one once it is closed', async () => {
  const { organizationId } = await aTenantGroup('personal', 'empty');
  const make = () => root.post('/api/v1/users', { email: `n${++names}@tier.test`, organizationId, role: 'owner' });
  const first = (await make()).expect(201).text('user.id');
  expect((await make()).expect(403, 'TIER_REQUIRED').at('requiredTier')).toBe('teams');
  await server.sql(`update users set status = 'deleted', ended_at = clock_timestamp() where id = $1`, [first]);
  (await make()).expect(201);
});

test('after a downgrade everything that is there goes on, and can be changed, taken along and taken away', async () => {
  const { id, organizationIds } = await aTenant(server, 'enterprise', { organizations: 2 });
  const [home, second] = organizationIds as [string, string];
  const [owner, member] = [
    await aPerson(server, 'owner', { organizationId: home }), await aPerson(server, 'member', { organizationId: home }),
  ];
  const other = await aPerson(server, 'admin', { organizationId: second });
  const team = (await owner.client.post('/api/v1/teams', { name: 'there' })).expect(201).text('team.id');
  (await owner.client.post(`/api/v1/teams/${team}/members`, { userId: member.id })).expect(201);
  const shared = { teamId: team, capability: 'web.search' };
  (await owner.client.post('/api/v1/capabilities/grant', shared)).expect(201);
  const agent = await anAgent(server).inOrganization(home).having({ teamId: team }).create();
  (await asInternal(server).put(`/internal/v1/tenants/${id}/subscription`, { tier: 'personal', active: false })).expect(200);

  const { client } = owner;
  for (const person of [owner, member, other]) (await person.client.get('/api/v1/users/me')).expect(200);
  (await client.get(`/api/v1/organizations/${second}`)).expect(200);
  (await client.patch(`/api/v1/organizations/${second}`, { name: 'Still' })).expect(200);
  expect((await client.get('/api/v1/organizations')).expect(200).number('total')).toBe(2);
  (await client.patch(`/api/v1/users/${member.id}`, { role: 'admin', name: 'Promoted' })).expect(200);
  (await client.post(`/api/v1/users/${owner.id}/keys`, { name: 'another' })).expect(201);
  (await client.patch(`/api/v1/teams/${team}`, { name: 'renamed' })).expect(200);
  (await client.post(`/api/v1/teams/${team}/members`, { userId: member.id, role: 'lead' })).expect(200);
  (await client.post('/api/v1/capabilities/grant', { ...shared, hitlMode: 'notify' })).expect(200);
  const executed = (await agent.client.post('/api/v1/execute', { capability: 'web.search' })).expect(200);
  expect(executed.at('status')).toBe('executed');
  (await client.post('/api/v1/agents', { name: 'one more', grants: [{ capability: 'web.search' }] })).expect(201);
  (await client.get('/api/v1/audit')).expect(200);
  (await client.get('/api/v1/audit/verify')).expect(200);
  // A person's own data is nobody's subscription.
  (await member.client.get(`/api/v1/audit/${member.id}/export`)).expect(200);
  (await client.get(`/api/v1/audit/${member.id}/export`)).expect(200);
  (await client.delete(`/api/v1/teams/${team}/members/${member.id}`)).expect(204);
  (await client.delete(`/api/v1/users/${member.id}/data`)).expect(200);
  (await client.delete(`/api/v1/users/${other.id}`)).expect(204);
});

describe('every route', () => {
  const TIERED = [
    'GET /api/v1/audit/export', 'POST /api/v1/organizations', 'POST /api/v1/teams', 'POST /api/v1/users', 'POST /api/v1/users/invitations',
  ];

  /** The routes that answer an owner with TIER_REQUIRED, where there is more of everything than `personal` includes. */
  async function refusedAs(subscription: Subscription): Promise<string[]> {
    const { owner, organizationId, tenantId } = await aTenantGroup(subscription, 'over it');
    const [{ id: sibling }] = (await server.sql<{ id: string }>('select id from organizations where tenant_id = $1 and id <> $2', [
      tenantId, organizationId,
    ])) as [{ id: string }];
    const refused: string[] = [];
    const isOwners = (route: Route) => !isPublic(route) && reachOf(route.access as AccessKey, 'owner') !== 'denied';
    for (const route of (await routesOf(server)).filter(isOwners)) {
      const place: ObjectOwner = {
        server, organizationId, sibling, person: owner!, agent: once(() => anAgentOf(server, organizationId, owner!)),
        account: once(() => aPerson(server, 'viewer', { organizationId })),
      };
      const { path, body } = await targetOf(route, place);
      const answer = await callRoute(owner!.client, route, path, body);
      if (answer.status >= 500) throw new Error(`${route.method} ${route.template}: ${answer.status}`);
      if ((answer.body as { code?: string } | undefined)?.code === 'TIER_REQUIRED') refused.push(`${route.method} ${route.template}`);
    }
    return refused.sort();
  }

  test('asks for a tier where the table says so, and nowhere else', async () => {
    expect(await refusedAs('personal')).toEqual(TIERED);
  });

  test('asks for none of whom has them all', async () => {
    expect(await refusedAs('enterprise')).toEqual([]);
  });
});

