import { readdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ACCESS, reachOf, type AccessKey, type Permission, ROLES } from '../../../src/domain/access/access.js';
import { newId } from '../../../src/domain/ids.js';
import { anAgentKey } from '../builders/agents.js';
import { anonymous, type Client, type Reply } from '../http/actors.js';
import { inParallel } from '../proofs/in-lanes.js';
import { CALLS_EVERY_ROUTE, matrixCallers, type MatrixCaller } from './matrix-callers.js';
import { startProvider, type TestProvider } from '../sign-in/oidc-provider.js';
import { aPerson, anOrganization, firstOrganization, type BuiltPerson } from '../builders/people.js';
import { done } from '../proofs/races.js';
import { anAgentOf, once, targetOf, type ObjectOwner, type Target } from './real-objects.js';
import { callRoute, changesSomething, isPublic, routesOf, type Route } from './routes.js';
import { startServer, type TestServer } from '../servers/server.js';
import { INTERNAL, originOf, submits } from '../builders/tenants.js';
import { storedState } from '../log/stored-state.js';

interface Call {
  readonly route: Route;
  readonly principal: MatrixCaller;
  readonly client: Client;
  readonly target: Target;
  /** Whether what is named is the caller's own, for a reach of `own`. */
  readonly whose: 'own' | "another's";
}

let provider: TestProvider;
let server: TestServer;
/** Of the running server, and those of the shard. */
let all: Route[];
let routes: Route[];
let principals: MatrixCaller[];
let pairs: Pick<Call, 'route' | 'principal'>[];
/** For calls that change nothing: reads, and whatever is refused. */
let shared: ObjectOwner;
let somebody: BuiltPerson;
let organizationId: string;
let sibling: string;
/** What is answered to whoever shows nothing: without a page, and on a page of ours. */
let anonymousAnswers: Map<Route, { readonly bare: number; readonly onPage: number }>;
/** Things to look at, by who looks. */
const looks = new Map<MatrixCaller, ObjectOwner>();
const PEOPLE: Partial<Record<MatrixCaller['is'], true>> = { owner: true, admin: true, member: true, viewer: true };
/** Calls under way at once. */
const LANES = 12;
/** In the short form, whoever does not call every route calls one of so many. */
const ONE_IN = 10;

/**
 * Shards of the routes, each a file of tests with servers of its own, so that workers share the work. Every route is in one of them: the
 * last takes whatever the others do not.
 */
export const SHARDS = {
  reads: ({ method }) => method === 'GET',
  'posts-to-things': ({ method, template }) => method === 'POST' && template.includes('{'),
  posts: ({ method, template }) => method === 'POST' && !template.includes('{'),
  others: ({ method }) => method !== 'GET' && method !== 'POST',
} satisfies Readonly<Record<string, (route: Route) => boolean>>;
export type Shard = keyof typeof SHARDS;

async function prepare(shard: Shard | undefined): Promise<void> {
  const which = shard === undefined ? 'some' : 'all';
  provider = await startProvider();
  server = await startServer({ env: { ...provider.env, ...INTERNAL } });
  await provider.serves(server);
  all = await routesOf(server);
  routes = shard === undefined ? all : all.filter(SHARDS[shard]);
  organizationId = await firstOrganization(server);
  await server.sql(`insert into tenants (id, name) values ('ten_here', 'here')`);
  await server.sql(`update organizations set tenant_id = 'ten_here' where id = $1`, [organizationId]);
  sibling = await anOrganization(server, { tenantId: 'ten_here' });
  somebody = await aPerson(server, 'viewer');
  shared = aPlace();
  const tenantElsewhere = newId('ten');
  const elsewhere = await anOrganization(server, { tenantId: tenantElsewhere });
  principals = await matrixCallers({ server, provider, organizationId, elsewhere, tenantElsewhere }, which);
  pairs = routes.flatMap((route, n) => principals.filter(({ name }, m) =>
    which === 'all' || CALLS_EVERY_ROUTE.has(name) || (n + m) % ONE_IN === 0).map((principal) => ({ route, principal })));
  anonymousAnswers = new Map();
  const visitor = anonymous(server).with({ origin: originOf(server) });
  for (const route of routes.filter(isPublic)) {
    const target = await targetOf(route, shared);
    const byBoth = [anonymous(server), visitor].map((client) => callRoute(client, route, target.path, target.body));
    const [bare, onPage] = (await Promise.all(byBoth)) as [Reply, Reply];
    anonymousAnswers.set(route, { bare: bare.status, onPage: onPage.status });
  }
}

/** Things of somebody else, unless it is said whose. */
function aPlace(whose: Partial<Pick<ObjectOwner, 'person' | 'account'>> = {}): ObjectOwner {
  const person = whose.person ?? somebody;
  return {
    server, organizationId, sibling, person,
    agent: once(() => anAgentOf(server, organizationId, person)),
    account: whose.account ?? once(() => aPerson(server, 'viewer')),
  };
}

/** As the caller would: a form by a page that shows one, where a browser calls a route that takes it. */
async function ask({ client, route, target, principal }: Call): Promise<Reply> {
  const isForm = route.takesForm && !isPublic(route) && principal.browser?.onPage === true && principal.is !== 'nobody';
  return isForm ? submits(client, target.path) : callRoute(client, route, target.path, target.body);
}

/** Of a problem, or of a vendor's error. */
const code = ({ body }: Reply) => {
  const { code: own, error } = (body ?? {}) as { code?: string; error?: { code?: string } };
  return own ?? error?.code;
};
const detail = ({ body }: Reply) => String((body as { detail?: unknown } | undefined)?.detail);

function reach({ route, principal }: Pick<Call, 'route' | 'principal'>): 'all' | 'own' | 'denied' {
  const { is, browser, by = 'token' } = principal;
  if (is === 'nobody' || is === 'inactive' || is === 'kept out') return 'denied';
  const { onlyBy }: Permission = ACCESS[route.access as AccessKey];
  if (is === 'agent' && onlyBy !== undefined && onlyBy.credential !== by) return 'denied';
  return browser?.onPage === false && changesSomething(route) ? 'denied' : reachOf(route.access as AccessKey, is);
}

/** What the answer must be, in words, and whether it is. */
function wanted(call: Call, answer: Reply): [string, boolean] {
  const { status } = answer;
  // Beside an identity provider nobody has a passkey to add; who may not call does not get so far as to hear it.
  const isLocal = status === 404 && /sign in through the identity provider/.test(detail(answer));
  const passes = isLocal || (status !== 401 && status !== 403 && status !== 404 && status < 500);
  const { principal, target, whose } = call;
  if (isPublic(call.route)) {
    const known = anonymousAnswers.get(call.route)!;
    // A page that leads to the sign-in page is for whoever is signed in: there it says what they may see.
    if (known.bare === 303 && principal.browser !== undefined && Object.hasOwn(PEOPLE, principal.is)) {
      return principal.from === 'elsewhere' && target.names === 'in the path' ? ['404', status === 404] : ['let through', passes];
    }
    return ['the same for everybody', status === (principal.browser?.onPage === true ? known.onPage : known.bare)];
  }
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

/** @returns what is wrong with the answer, if anything is */
async function wrongWith(call: Call): Promise<string[]> {
  // A server does only so many exports at once.
  const answer = await done(() => ask(call));
  const [what, is] = wanted(call, answer);
  if (is) return [];
  const { route, principal, target, whose } = call;
  const sent = target.body === undefined ? '' : ` with ${JSON.stringify(target.body)}`;
  return [`${route.method} ${target.path}${sent} by ${principal.name} (${whose}): wanted ${what}, `
    + `got ${answer.status} ${JSON.stringify(answer.body)?.slice(0, 300)}`];
}

const wrongAmong = async (calls: readonly Call[]) => (await inParallel(LANES, calls, wrongWith)).flat();

/** Calls that take no effect can all be made on the same things. */
function effectless(pair: Pick<Call, 'route' | 'principal'>): boolean {
  return !isPublic(pair.route) && reach(pair) === 'denied';
}

/** People pass the gate with dry runs alone. */
function asOf({ is }: MatrixCaller, { access }: Route, target: Target): Target {
  const isPerson = (ROLES as readonly string[]).includes(is);
  return access === 'gate.execute' && isPerson ? { ...target, body: { ...(target.body as object), dryRun: true } } : target;
}

/** On fresh things where the call may change them; where the reach is one's own, also on somebody else's. */
async function callsOf(route: Route, principal: MatrixCaller): Promise<Call[]> {
  const changes = changesSomething(route);
  const call = async (place: ObjectOwner, whose: Call['whose'], client?: Client): Promise<Call> => ({
    route, principal, whose, target: asOf(principal, route, await targetOf(route, place)),
    client: client ?? ((changes && !isPublic(route)) ? await principal.browser?.signsIn() : undefined) ?? principal.client,
  });
  const anothers = () => call(changes ? aPlace() : shared, "another's");
  if (isPublic(route) || principal.from === 'elsewhere') return [await anothers()];
  const { person } = principal;
  if (reach({ route, principal }) === 'all') return [await call(changes ? aPlace(person && { person }) : shared, 'own')];
  const ownPlace = () => aPlace(person && { person, account: async () => person });
  const own = changes ? ownPlace() : looks.get(principal) ?? ownPlace();
  if (!changes) looks.set(principal, own);
  const itself = async () => {
    const agent = await own.agent();
    return principal.by === 'key' ? (await anAgentKey(server, agent)).client : agent.client;
  };
  const calls = [await call(own, 'own', principal.is === 'agent' ? await itself() : undefined), await anothers()];
  return calls.filter(({ target, whose }) => whose === 'own' || target.names !== 'nothing');
}

/**
 * Every route of the running server that is the shard's × callers of every kind, on objects that are really there. What is expected of
 * each pair comes from the access table alone; nothing here knows a route by name. Without a shard it is the short form: all routes, each
 * called by those named there, and by some of the others.
 *
 * @param folder where the files of all shards stand
 */
export function judgePermissionMatrix(shard?: Shard, folder?: string): void {
  beforeAll(() => prepare(shard));
  afterAll(async () => {
    await server?.stop();
    await provider?.close();
  });

  describe('every route × every principal', () => {
    const counted = { pairs: 0, calls: 0 };

    test('no route is undeclared, and each is in one shard, which runs', () => {
      expect(all.length).toBeGreaterThan(150);
      expect(all.filter(({ access }) => !Object.hasOwn(ACCESS, access))).toEqual([]);
      const shards = Object.entries<(route: Route) => boolean>(SHARDS);
      const shardsOf = (route: Route) => shards.filter(([, takes]) => takes(route)).length;
      expect(all.filter((route) => shardsOf(route) !== 1).map(({ method, template }) => `${method} ${template}`)).toEqual([]);
      if (folder !== undefined) {
        const files = shards.map(([name]) => `permission-matrix-${name}.test.ts`);
        expect(readdirSync(folder).filter((file) => file.startsWith('permission-matrix')).sort()).toEqual(files.sort());
      }
      expect(routes.length).toBeGreaterThan(15);
      expect(principals.length).toBeGreaterThanOrEqual(shard === undefined ? 26 : 48);
    });

    test('all callers call, and some of each kind call every route', () => {
      const asked = (named: (caller: MatrixCaller) => boolean) => new Set(pairs.filter(({ principal }) => named(principal)));
      const least = Math.floor(routes.length / ONE_IN);
      expect(principals.filter((one) => asked(({ name }) => name === one.name).size < least)).toEqual([]);
      for (const name of CALLS_EVERY_ROUTE) expect(asked((caller) => caller.name === name).size).toBe(routes.length);
    });

    test('who is refused is refused on each, and changes nothing', async () => {
      const calls: Call[] = [];
      const targets = new Map<Route, Target>();
      for (const { route, principal } of pairs.filter(effectless)) {
        const target = targets.get(route) ?? await targetOf(route, shared);
        targets.set(route, target);
        calls.push({ route, principal, client: principal.client, target, whose: "another's" });
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
      const wrong = await inParallel(LANES, pairs.filter((pair) => !effectless(pair)), async ({ route, principal }) => {
        const calls = await callsOf(route, principal);
        counted.pairs++;
        counted.calls += calls.length;
        return (await inParallel(1, calls, wrongWith)).flat();
      });
      expect(wrong.flat()).toEqual([]);
    });

    test('all pairs were asked', () => {
      expect(counted.pairs).toBe(pairs.length);
      process.stderr.write(`permission matrix, ${shard ?? 'short'}: ${routes.length} routes × ${principals.length} principals, `
        + `${counted.pairs} pairs, ${counted.calls} calls, 0 undeclared\n`);
    });
  });
}
