import fc from 'fast-check';
import { asRoot } from '../../support/http/actors.js';
import { goodBody, wrongValuesFor } from '../../support/routes/bad-bodies.js';
import { anAgent, anAgentKey } from '../../support/builders/agents.js';
import { aPerson } from '../../support/builders/people.js';
import type { Proof, ProofResult, ProofRun } from '../../support/proofs/proof.js';
import { closeRawConnections, sendRaw } from '../../support/http/raw-http.js';
import { isOfVendors, pathOf, routesOf, type Route } from '../../support/routes/routes.js';
import { startServer, type TestServer } from '../../support/servers/server.js';
import { storedState } from '../../support/log/stored-state.js';
import { byTheStrongest, isOfPages } from '../../support/routes/strongest-caller.js';

/** Cases between two looks at the whole database. */
const CHUNK = 500;
/** No JSON text may hold it, inside a string or out. */
const UNIT_SEPARATOR = 0x1f;

const KINDS = ['bytes', 'mutated bytes', 'a wrong member', 'several wrong members', 'a value that is no object',
  'two spellings'] as const;

interface Case {
  readonly kind: (typeof KINDS)[number];
  readonly route: number;
  readonly noise: Uint8Array;
  readonly places: readonly number[];
  readonly value: unknown;
  readonly extra: Readonly<Record<string, unknown>>;
  readonly pick: number;
  readonly type: string;
}

const value = fc.jsonValue({ maxDepth: 4, noUnicodeString: false });
const cases: fc.Arbitrary<Case> = fc.record({
  kind: fc.constantFrom(...KINDS),
  route: fc.nat(),
  noise: fc.uint8Array({ maxLength: 200 }),
  places: fc.array(fc.nat(), { minLength: 1, maxLength: 6 }),
  value,
  extra: fc.dictionary(fc.string({ maxLength: 12 }).filter((name) => name !== '__proto__'), value, { maxKeys: 5 }),
  pick: fc.nat(),
  type: fc.oneof(
    { weight: 20, arbitrary: fc.constant('application/json') },
    { weight: 1, arbitrary: fc.constantFrom('text/plain', 'application/xml', 'application/json; charset=utf-7') },
  ),
});

interface Surroundings {
  readonly server: TestServer;
  readonly routes: readonly Route[];
  readonly ids: Readonly<Record<string, string>>;
  readonly agentId: string;
  readonly agentToken: string;
  readonly agentKey: string;
  readonly ownerKey: string;
}

/**
 * Whatever is wrong with a body, the answer is a refusal in the one form, never an error of ours, and nothing of it is
 * stored. Each case is wrong by construction: bytes that no JSON text holds, or a member of a type it cannot have. What a
 * path names exists, so nothing but the body is in the way.
 */
export const proof: Proof = {
  name: 'bad-input',
  title: 'A body that is wrong in any way is refused with 4xx on every route, and nothing of it is stored.',
  longCount: 50_000,
  needs: 'database',
  run: async (run) => {
    const server = await startServer();
    try {
      return await attack(await prepare(server), run);
    } finally {
      closeRawConnections();
      await server.stop();
    }
  },
};

async function prepare(server: TestServer): Promise<Surroundings> {
  const root = asRoot(server);
  const agent = await anAgent(server).granted('web.search').granted('email.send', { hitlMode: 'propose' }).create();
  const ran = (await agent.client.post('/api/v1/execute', { capability: 'web.search' })).expect(200);
  const asked = (await agent.client.post('/api/v1/execute', { capability: 'email.send' })).expect(202);
  (await root.post('/api/v1/capabilities', { name: 'own.one', description: 'mine' })).expect(201);
  // What vendors' clients send is their providers' to judge; that it must be JSON is tried in test/api/platform.
  const routes = (await routesOf(server)).filter((route) => route.takesBody && typedMembers(route).length > 0 && !isOfVendors(route));
  const ids = {
    agents: agent.id, executions: ran.text('executionId'), hitl: asked.text('hitlRequestId'), name: 'own.one',
    capability: 'web.search',
  };
  const [agentKey, ownerKey] = [(await anAgentKey(server, agent)).secret, (await aPerson(server, 'owner')).key];
  return { server, routes, ids, agentId: agent.id, agentToken: agent.token, agentKey, ownerKey };
}

async function attack(around: Surroundings, { count, seed, progress }: ProofRun): Promise<ProofResult> {
  const coverage: Record<string, number> = Object.fromEntries([...KINDS, 'told the place', 'routes'].map((name) => [name, 0]));
  const reached = new Set<string>();
  let checked = 0;
  const property = fc.asyncProperty(cases, async (drawn) => {
    const route = around.routes[drawn.route % around.routes.length]!;
    const outcome = await refusal(around, route, drawn);
    checked += 1;
    progress(Math.min(checked, count));
    coverage[drawn.kind]! += 1;
    if (outcome.reported) coverage['told the place']! += 1;
    reached.add(`${route.method} ${route.template}`);
    if (outcome.fault !== undefined) throw new Error(`${route.method} ${route.template} ${outcome.fault}`);
  });
  for (let done = 0, chunk = 0; done < count; done += CHUNK, chunk += 1) {
    const before = await storedState(around.server);
    const numRuns = Math.min(CHUNK, count - done);
    const found = await fc.check(property, { seed: (seed + chunk) % 2 ** 31, numRuns });
    if (found.failed) return { checked, counterexample: `${String(found.errorInstance)}\n${JSON.stringify(found.counterexample)}`,
      coverage };
    const changed = difference(before, await storedState(around.server));
    if (changed !== '') return { checked, counterexample: `cases ${done} to ${done + numRuns} changed ${changed}`, coverage };
  }
  coverage.routes = reached.size;
  await around.server.assertAlive();
  return { checked, coverage };
}

function difference(before: Readonly<Record<string, string>>, after: Readonly<Record<string, string>>): string {
  return Object.keys(after).filter((table) => before[table] !== after[table]).join(', ');
}

async function refusal(around: Surroundings, route: Route, drawn: Case): Promise<{ fault?: string; reported?: boolean }> {
  const body = bodyOf(route, drawn, around.agentId);
  const { status, headers, body: text } = await sendRaw(around.server.url, {
    method: route.method,
    target: pathOf(route, around.ids),
    // Else the unknown members that are drawn besides would be reason enough to refuse it.
    headers: [...byTheStrongest(route, around), 'content-type', drawn.type, 'prefer', 'handling=lenient'],
    body,
  });
  const shown = `with ${Buffer.from(body).toString('latin1').slice(0, 2_000)} answered ${status} ${text.slice(0, 500)}`;
  const isJson = drawn.type.startsWith('application/json');
  const wanted = drawn.type === 'application/json' ? 400 : isOfPages(route) && !isJson ? 403 : 415;
  if (status !== wanted) return { fault: shown };
  if (!/^application\/problem\+json/.test(headers['content-type'] ?? '')) return { fault: `${shown}, which is no problem` };
  const problem = JSON.parse(text) as { status: number; errors?: { pointer: string }[] };
  if (wanted === 400 && !problem.errors?.every(({ pointer }) =>
    /^(\/.*)?$/s.test(pointer))) return { fault: `${shown}, without a place` };
  return { reported: wanted === 400 };
}

function bodyOf(route: Route, { kind, noise, places, value: drawn, extra, pick }: Case, agentId: string): Uint8Array {
  const good = goodBody(route, { agentId });
  const base = { ...extra, ...good };
  switch (kind) {
    case 'bytes':
      return Uint8Array.from([...noise, UNIT_SEPARATOR]);
    case 'mutated bytes':
      return mutated(JSON.stringify({ ...base, metadata: drawn }), noise, places);
    case 'a wrong member':
      return json({ ...base, ...wrongMember(route, pick) });
    case 'several wrong members':
      return json({ ...base, ...Object.assign({}, ...places.map((place) => wrongMember(route, place))) as object });
    case 'a value that is no object':
      return json(typeof drawn === 'object' && !Array.isArray(drawn) ? [drawn] : drawn);
    case 'two spellings':
      return json({ ...base, ...twice(route, pick, drawn) });
  }
}

const json = (content: unknown): Uint8Array => Buffer.from(JSON.stringify(content));

/** Bytes changed, taken out and put in at some places, and at one of them the byte that makes it no JSON for certain. */
function mutated(text: string, noise: Uint8Array, places: readonly number[]): Uint8Array {
  const bytes = [...Buffer.from(text)];
  places.forEach((place, at) => {
    const where = place % bytes.length;
    const byte = noise[at] ?? 0x22;
    if (place % 3 === 0) bytes[where] = byte;
    else if (place % 3 === 1) bytes.splice(where, 1 + (place % 4));
    else bytes.splice(where, 0, byte);
    if (bytes.length === 0) bytes.push(byte);
  });
  bytes.splice((places[0] ?? 0) % (bytes.length + 1), 0, UNIT_SEPARATOR);
  return Uint8Array.from(bytes);
}

function typedMembers(route: Route): [string, unknown[]][] {
  const members = Object.entries(route.members).map(([name, schema]): [string, unknown[]] => [name, wrongValuesFor(schema)]);
  return members.filter(([, values]) => values.length > 0);
}

function wrongMember(route: Route, pick: number): Record<string, unknown> {
  const members = typedMembers(route);
  const [name, values] = members[pick % members.length]!;
  return { [name]: values[Math.floor(pick / members.length) % values.length] };
}

/** One member under both of its names, saying two things. */
function twice(route: Route, pick: number, drawn: unknown): Record<string, unknown> {
  const double = Object.keys(route.members).filter((name) => /[A-Z]/.test(name));
  const name = double[pick % Math.max(1, double.length)];
  if (name === undefined) return wrongMember(route, pick);
  const snake = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return { [name]: [drawn, 'one'], [snake]: [drawn, 'other'] };
}
