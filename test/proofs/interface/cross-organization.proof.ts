import { contentOf } from '../../support/http/actors.js';
import { attemptOn, type Attacker, type Attempt } from '../../support/routes/foreign-attempt.js';
import { aScenario, idsIn, type OrganizationScenario } from '../../support/routes/organization-scenario.js';
import type { Proof, ProofResult, ProofRun } from '../../support/proofs/proof.js';
import { generator } from '../../support/proofs/races.js';
import { isPublic, routesOf, type Route } from '../../support/routes/routes.js';
import { startServer, type TestServer } from '../../support/servers/server.js';
import { organizationTables, storedStateOf } from '../../support/log/stored-state.js';

/** Attempts between two looks at the other organization's rows; each time the attackers get a new organization to start from. */
const CHUNK = 250;
const AT_ONCE = 8;

const PLACES = ['in the path', 'in the body', 'in a filter', 'as a cursor'] as const;
const ROLES = ['owner', 'admin', 'member', 'viewer', 'agent'] as const;

/**
 * People of each role and an agent of one organization try every route that takes an id, by what stands in another: in
 * paths, bodies, filters and cursors, between ids of their own. No answer may tell anything of it: neither an id that the
 * attempt did not bring itself, nor a text; none may take one of its ids for good; and not one of its rows may change.
 */
export const proof: Proof = {
  name: 'cross-organization',
  title: "Nobody sees or changes anything of another organization, whatever route they bring its ids to.",
  longCount: 100_000,
  needs: 'database',
  run: async (run) => {
    const server = await startServer();
    try {
      return await attack(server, run);
    } finally {
      await server.stop();
    }
  },
};

interface Victim {
  readonly scenario: OrganizationScenario;
  readonly ids: ReadonlySet<string>;
  readonly cursors: readonly string[];
  /** Changing calls with a foreign id that succeeded since the last look: one of them it was, if something changed. */
  readonly suspects: string[];
}

async function attack(server: TestServer, { count, seed, progress }: ProofRun): Promise<ProofResult> {
  const random = generator(seed);
  const routes = (await routesOf(server)).filter((route) => !isPublic(route));
  const scenario = await aScenario(server, markOf('b', seed));
  const victim: Victim = {
    scenario, ids: await idsIn(server, scenario.organizationIds), cursors: await cursorsOf(routes, scenario), suspects: [],
  };
  const coverage: Record<string, number> = {};
  for (const what of [...ROLES, ...PLACES, 'told nothing is there', 'denied', 'let through']) coverage[what] = 0;
  const reached = new Set<Route>();
  const before = await storedStateOf(server, scenario.organizationIds);
  let checked = 0;
  while (checked < count) {
    const own = await aScenario(server, markOf('a', seed + checked));
    const chunk = Array.from({ length: Math.min(CHUNK, count - checked) }, () => {
      const role = ROLES[Math.floor(random() * ROLES.length)]!;
      const route = routes[Math.floor(random() * routes.length)]!;
      reached.add(route);
      return attemptOn(route, attackerOf(own, role), { own: own.ids, foreign: scenario.ids, cursors: victim.cursors }, random);
    });
    victim.suspects.length = 0;
    const fault = (await tryAll(server, chunk, victim, coverage)) ?? (await changed(server, victim, before))
      ?? (await referredTo(server, own, victim));
    checked += chunk.length;
    progress(checked);
    if (fault !== undefined) return { checked, counterexample: fault, coverage };
  }
  await server.assertAlive();
  return { checked, coverage: { ...coverage, routes: reached.size } };
}

/** A text that nobody guesses, and the same for the same seed. */
const markOf = (side: string, seed: number): string => `zq${side}${(seed >>> 0).toString(16).padStart(12, '0')}`;

function attackerOf(own: OrganizationScenario, role: (typeof ROLES)[number]): Attacker {
  return role === 'agent'
    ? { role, token: own.agent.token, agentId: own.agent.id }
    : { role, token: own.people[role].key, agentId: own.agent.id };
}

/** Cursors that its own people were given. */
async function cursorsOf(routes: readonly Route[], { people }: OrganizationScenario): Promise<string[]> {
  const found: string[] = [];
  for (const route of routes.filter(({ method, query }) => method === 'GET' && 'cursor' in query)) {
    const page = await people.owner.client.get<{ nextCursor?: string }>(route.template, { query: { limit: 1 } });
    if (page.body.nextCursor !== undefined) found.push(page.body.nextCursor);
  }
  return found;
}

async function tryAll(
  server: TestServer, attempts: Attempt[], victim: Victim, coverage: Record<string, number>,
): Promise<string | undefined> {
  let fault: string | undefined;
  const queue = [...attempts];
  const lane = async () => {
    for (let attempt = queue.shift(); attempt !== undefined && fault === undefined; attempt = queue.shift()) {
      const found = await tried(server, attempt, victim, coverage);
      fault ??= found;
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
  return fault;
}

async function tried(
  server: TestServer, attempt: Attempt, victim: Victim, coverage: Record<string, number>,
): Promise<string | undefined> {
  const { attacker, method, path, body, headers, places } = attempt;
  const response = await fetch(new URL(path, server.url), {
    method, headers: { ...headers, authorization: `Bearer ${attacker.token}` }, ...(body === undefined ? {} : { body }),
  });
  const answer = await contentOf(response);
  const { status } = response;
  coverage[attacker.role]! += 1;
  for (const place of places) coverage[place]! += 1;
  if (status === 404) coverage['told nothing is there']! += 1;
  else if (status === 403) coverage.denied! += 1;
  else if (status < 300) coverage['let through']! += 1;
  const sent = body === undefined ? '' : ` with ${body}`;
  const shown = `${method} ${path} by ${attacker.role}${sent} answered ${status} ${answer.slice(0, 1_000)}`;
  // Overload is no answer to anything.
  if (status >= 500 && status !== 503) return `an error of ours: ${shown}`;
  if (answer.includes(victim.scenario.mark)) return `a text of the other organization: ${shown}`;
  const brought = `${path} ${body ?? ''}`;
  for (const [id] of answer.matchAll(/[a-z]+_[0-9a-z]{36}/g)) {
    if (!victim.ids.has(id)) continue;
    if (!brought.includes(id)) return `an id of the other organization, ${id}: ${shown}`;
    // What a refusal repeats of the request tells nothing; what a success repeats of it has been taken.
    if (status < 300 && grantedOf(answer).includes(id)) return `took an id of the other organization, ${id}: ${shown}`;
  }
  if (method !== 'GET' && status < 300 && places.length > 0) victim.suspects.push(shown.slice(0, 300));
  return undefined;
}

/** What of a success was one: a batch is answered 200, and says of each item which status it would have had alone. */
function grantedOf(answer: string): string {
  if (!answer.startsWith('{"results":')) return answer;
  const { results } = JSON.parse(answer) as { results: { readonly status?: number }[] };
  return JSON.stringify(results.filter(({ status = 200 }) => status < 300));
}

async function changed(server: TestServer, victim: Victim, before: Readonly<Record<string, string>>): Promise<string | undefined> {
  const after = await storedStateOf(server, victim.scenario.organizationIds);
  const tables = Object.keys(after).filter((table) => before[table] !== after[table]);
  return tables.length === 0 ? undefined
    : `rows of the other organization changed in ${tables.join(', ')}; by one of\n${victim.suspects.join('\n')}`;
}

/** Columns that keep what was asked in the caller's own words, by table: a stranger's id among them has led to nothing. */
const AS_ASKED: Readonly<Record<string, readonly string[]>> = { routing_decisions: ['team_id', 'exclude', 'tags', 'description'] };

/** A row of the attackers' own that names something of the other organization: nobody saw it happen, but it did. */
async function referredTo(server: TestServer, own: OrganizationScenario, victim: Victim): Promise<string | undefined> {
  for (const table of await organizationTables(server)) {
    const rows = await server.sql<{ text: string }>(
      `select (to_jsonb(t) - $3::text[])::text as text from "${table}" t
       where ${table === 'organizations' ? 'id' : 'organization_id'} = any ($1)
       and (to_jsonb(t) - $3::text[])::text like any ($2) limit 1`,
      [own.organizationIds, [...victim.ids].map((id) => `%${id}%`), AS_ASKED[table] ?? []],
    );
    if (rows.length > 0) return `a row of ${table} names something of the other organization: ${rows[0]!.text.slice(0, 1_000)}`;
  }
  return undefined;
}
