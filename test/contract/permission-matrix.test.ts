import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { createHash } from 'node:crypto';
import { ACCESS, reachOf, type AccessKey, type PrincipalKind } from '../../src/domain/access/access.js';
import { anonymous, as, asRoot, type Client, type Reply } from '../support/actors.js';
import { rotateRootKey } from '../support/command-line.js';
import { aPerson, aPersonalKey, anOrganization, firstOrganization, type BuiltPerson } from '../support/people.js';
import { anAgentOf, once, targetOf, type Place, type Target } from '../support/real-objects.js';
import { isPublic, routesOf, type Route } from '../support/routes.js';
import { startServer, type TestServer } from '../support/server.js';
import { asInternal, INTERNAL, INTERNAL_KEY } from '../support/signed-in.js';
import { storedState } from '../support/stored-state.js';
import { ROOT_KEY } from '../support/test-run.js';

jest.setTimeout(300_000);

// Every route of the running server × every kind of caller, on objects that are really there. What is expected of each pair
// comes from the access table alone; nothing here knows a route by name.

interface Principal {
  readonly name: string;
  /** `nobody`: no credential that holds. `inactive`: a genuine token of an agent out of service. Else its column of the table. */
  readonly is: 'nobody' | 'inactive' | PrincipalKind;
  readonly from: 'here' | 'elsewhere';
  readonly client: Client;
  readonly person?: BuiltPerson;
}

interface Call {
  readonly route: Route;
  readonly principal: Principal;
  readonly client: Client;
  readonly target: Target;
  /** Whether what is named is the caller's own, for a reach of `own`. */
  readonly whose: 'own' | "another's";
}

let server: TestServer;
let routes: Route[];
let principals: Principal[];
/** For calls that change nothing: reads, and whatever is refused. */
let shared: Place;
let somebody: BuiltPerson;
let organizationId: string;
let sibling: string;
let anonymousAnswers: Map<Route, number>;

beforeAll(async () => {
  server = await startServer({ env: INTERNAL });
  routes = await routesOf(server);
  organizationId = await firstOrganization(server);
  await server.sql(`insert into tenants (id, name) values ('ten_here', 'here')`);
  await server.sql(`update organizations set tenant_id = 'ten_here' where id = $1`, [organizationId]);
  [sibling] = await Promise.all([anOrganization(server, { tenantId: 'ten_here' })]);
  somebody = await aPerson(server, 'viewer');
  shared = await aPlace();
  principals = await thePrincipals(await anOrganization(server, { tenantId: 'ten_elsewhere' }));
  anonymousAnswers = new Map();
  for (const route of routes.filter(isPublic)) {
    anonymousAnswers.set(route, (await send(anonymous(server), route, await targetOf(route, shared))).status);
  }
});

afterAll(() => server.stop());

/** Things of somebody else, unless it is said whose. */
async function aPlace(whose: Partial<Pick<Place, 'person' | 'account'>> = {}): Promise<Place> {
  const person = whose.person ?? somebody;
  return {
    server, organizationId, sibling, person,
    agent: once(() => anAgentOf(server, organizationId, person)),
    account: whose.account ?? once(() => aPerson(server, 'viewer')),
  };
}

async function thePrincipals(elsewhere: string): Promise<Principal[]> {
  const person = async (name: string, role: BuiltPerson['role'], from: Principal['from'] = 'here'): Promise<Principal> => {
    const made = await aPerson(server, role, from === 'here' ? {} : { organizationId: elsewhere });
    return { name, is: role, from, client: made.client, person: made };
  };
  const nobody = (name: string, client: Client): Principal => ({ name, is: 'nobody', from: 'here', client });
  const dead = await aPerson(server, 'owner');
  const revoked = await aPersonalKey(server, { organizationId, userId: dead.id });
  await server.sql('update personal_keys set revoked_at = clock_timestamp() where id = $1', [revoked.id]);
  const expired = await aPersonalKey(server, { organizationId, userId: dead.id, expiresAt: new Date(Date.now() - 1_000) });
  const deleted = await aPerson(server, 'owner');
  await server.sql(`update users set status = 'deleted', ended_at = clock_timestamp() where id = $1`, [deleted.id]);
  const [agent, deactivated, removed, tokensEnded] = await Promise.all(
    Array.from({ length: 4 }, () => anAgentOf(server, organizationId, dead)));
  (await asRoot(server).post(`/api/v1/agents/${deactivated!.id}/deactivate`)).expect(200);
  (await asRoot(server).delete(`/api/v1/agents/${removed!.id}`)).expect(204);
  (await asRoot(server).delete(`/api/v1/agents/${tokensEnded!.id}/tokens`)).expect(204);
  const strange = await anAgentOf(server, elsewhere, dead);
  return [
    nobody('without a credential', anonymous(server)),
    nobody('a root key that never was', as(server, `svc_root_${'0'.repeat(64)}`)),
    nobody('a root key that was rotated away', as(server, await rotatedAway())),
    nobody('a token of a dead epoch', tokensEnded!.client),
    nobody('a revoked personal key', as(server, revoked.key)),
    nobody('an expired personal key', as(server, expired.key)),
    nobody('a key of a closed account', deleted.client),
    { name: 'a deactivated agent', is: 'inactive', from: 'here', client: deactivated!.client },
    { name: 'a removed agent', is: 'inactive', from: 'here', client: removed!.client },
    nobody('an internal key that is another server\'s', as(server, INTERNAL_KEY.toLowerCase())),
    { name: 'the internal key', is: 'internal', from: 'here', client: asInternal(server) },
    { name: 'root', is: 'root', from: 'here', client: asRoot(server) },
    { name: 'an agent', is: 'agent', from: 'here', client: agent!.client },
    { name: 'an agent of another organization', is: 'agent', from: 'elsewhere', client: strange.client },
    await person('an owner', 'owner'),
    await person('an admin', 'admin'),
    await person('a member', 'member'),
    await person('a viewer', 'viewer'),
    await person('an owner of another organization', 'owner', 'elsewhere'),
    await person('an admin of another organization', 'admin', 'elsewhere'),
    await person('a member of another organization', 'member', 'elsewhere'),
  ];
}

/** A key that the command made and that was good, until the tests' own took its place again. */
async function rotatedAway(): Promise<string> {
  const key = await rotateRootKey(server.database.url);
  (await as(server, key).get('/api/v1/agents')).expect(200);
  await server.sql('update instance set root_key_hash = $1', [createHash('sha256').update(ROOT_KEY).digest('hex')]);
  return key;
}

function send(client: Client, route: Route, { path, body }: Target): Promise<Reply> {
  if (route.method === 'GET') return client.get(path);
  if (route.method === 'DELETE') return client.delete(path, body);
  if (route.method === 'PATCH') return client.patch(path, body);
  return route.method === 'PUT' ? client.put(path, body) : client.post(path, body);
}

const code = ({ body }: Reply) => (body as { code?: string } | undefined)?.code;
const reach = ({ route, principal }: Pick<Call, 'route' | 'principal'>) =>
  principal.is === 'nobody' || principal.is === 'inactive' ? 'denied' : reachOf(route.access as AccessKey, principal.is);

/** What the answer must be, in words, and whether it is. */
function wanted(call: Call, answer: Reply): [string, boolean] {
  const { status } = answer;
  const passes = status !== 401 && status !== 403 && status !== 404 && status < 500;
  const { principal, target, whose } = call;
  if (isPublic(call.route)) return ['the same for everybody', status === anonymousAnswers.get(call.route)];
  if (principal.is === 'nobody') return ['401', status === 401 && code(answer) === 'UNAUTHENTICATED'];
  if (principal.is === 'inactive') return ['403 AGENT_INACTIVE', status === 403 && code(answer) === 'AGENT_INACTIVE'];
  if (reach(call) === 'denied') return ['403 FORBIDDEN', status === 403 && code(answer) === 'FORBIDDEN'];
  if (target.names === 'nothing') return ['let through', passes];
  if (principal.from === 'elsewhere') {
    return target.names === 'in the path' ? ['404', status === 404] : ['404 or 403', status === 404 || status === 403];
  }
  if (reach(call) === 'own' && whose === "another's") return ['404 or 403', status === 404 || status === 403];
  return ['let through', passes];
}

async function wrongAmong(calls: readonly Call[]): Promise<string[]> {
  const wrong: string[] = [];
  for (const call of calls) {
    const answer = await send(call.client, call.route, call.target);
    const [what, is] = wanted(call, answer);
    if (is) continue;
    const { route, principal, target, whose } = call;
    const sent = target.body === undefined ? '' : ` with ${JSON.stringify(target.body)}`;
    wrong.push(`${route.method} ${target.path}${sent} by ${principal.name} (${whose}): wanted ${what}, `
      + `got ${answer.status} ${JSON.stringify(answer.body)?.slice(0, 300)}`);
  }
  return wrong;
}

/** Calls that take no effect can all be made on the same things. */
function effectless(route: Route, principal: Principal): boolean {
  return !isPublic(route) && reach({ route, principal }) === 'denied';
}

describe('every route × every principal', () => {
  const counted = { pairs: 0, calls: 0 };

  test('no route is undeclared', () => {
    expect(routes.length).toBeGreaterThan(30);
    expect(routes.filter(({ access }) => !Object.hasOwn(ACCESS, access))).toEqual([]);
    expect(principals.length).toBeGreaterThanOrEqual(12);
  });

  test('who is refused is refused on each, and changes nothing', async () => {
    const calls: Call[] = [];
    for (const route of routes) {
      const target = await targetOf(route, shared);
      for (const principal of principals.filter((one) => effectless(route, one))) {
        calls.push({ route, principal, client: principal.client, target, whose: "another's" });
      }
    }
    // Blocked calls of an agent out of service are entries of its chain, so they come last.
    const [inactive, refused] = [calls.filter(({ principal }) => principal.is === 'inactive'),
      calls.filter(({ principal }) => principal.is !== 'inactive')];
    const before = await storedState(server);
    expect(await wrongAmong(refused)).toEqual([]);
    expect(await storedState(server)).toEqual(before);
    expect(await wrongAmong(inactive)).toEqual([]);
    counted.pairs += calls.length;
    counted.calls += calls.length;
  });

  test('who is let through reaches their own, and neither another\'s nor another organization\'s', async () => {
    const wrong: string[] = [];
    for (const route of routes) {
      const found = principals.filter((one) => !effectless(route, one)).map(async (principal) => {
        const calls = await callsOf(route, principal);
        counted.pairs++;
        counted.calls += calls.length;
        return wrongAmong(calls);
      });
      wrong.push(...(await Promise.all(found)).flat());
    }
    expect(wrong).toEqual([]);
  });

  test('all pairs were asked', () => {
    expect(counted.pairs).toBe(routes.length * principals.length);
    process.stderr.write(`permission matrix: ${routes.length} routes × ${principals.length} principals = ${counted.pairs} pairs, `
      + `${counted.calls} calls, 0 undeclared\n`);
  });
});

/** On fresh things where the call may change them; where the reach is one's own, also on somebody else's. */
async function callsOf(route: Route, principal: Principal): Promise<Call[]> {
  const call = async (place: Place, whose: Call['whose'], client = principal.client): Promise<Call> =>
    ({ route, principal, client, target: await targetOf(route, place), whose });
  const anothers = async () => call(route.method === 'GET' ? shared : await aPlace(), "another's");
  if (isPublic(route) || principal.from === 'elsewhere') return [await anothers()];
  const { person } = principal;
  if (reach({ route, principal }) === 'all') return [await call(await aPlace(person && { person }), 'own')];
  const own = await aPlace(person && { person, account: async () => person });
  const calls = [await call(own, 'own', principal.is === 'agent' ? (await own.agent()).client : undefined), await anothers()];
  return calls.filter(({ target, whose }) => whose === 'own' || target.names !== 'nothing');
}
