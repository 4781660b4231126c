import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { asRoot, type Client } from '../../support/http/actors.js';
import { BODY_BYTES_MAX } from '../../support/routes/bad-bodies.js';
import { anAgent, anAgentKey, type BuiltAgent } from '../../support/builders/agents.js';
import { closeRawConnections, sendRaw } from '../../support/http/raw-http.js';
import { anAgentOf, once, targetOf, type ObjectOwner } from '../../support/routes/real-objects.js';
import { callRoute, isOfVendors, routesOf, type Route } from '../../support/routes/routes.js';
import { startModelProvider, type ModelProvider } from '../../support/llm/model-provider.js';
import { anOrganization, aPerson, type BuiltPerson } from '../../support/builders/people.js';
import { startServer, type TestServer } from '../../support/servers/server.js';
import { storedState } from '../../support/log/stored-state.js';
import { ROOT_KEY } from '../../support/servers/test-run.js';

let server: TestServer;
let root: Client;
let models: ModelProvider;

beforeAll(async () => {
  models = await startModelProvider();
  server = await startServer({ env: models.env });
  root = asRoot(server);
});

afterAll(async () => {
  closeRawConnections();
  await server.stop();
  await models.close();
});

describe('what only looks bad is kept whole', () => {
  const odd = {
    constructor: 1, prototype: { constructor: [null] }, toString: 'x', hasOwnProperty: false, valueOf: {}, proto: 1,
    '': 'no name', 'a/b~c': { '~1': '/' }, '0': 'zero',
    'ключ 🔑': '值\u202e\u200b\ufeff', 'é': 'e\u0301', big: 9_007_199_254_740_991, small: -9_007_199_254_740_991,
    tiny: 5e-324,
    half: 0.1, minus: -0.5, list: [[[]], {}, null, true],
    text: '\u0001\t\r\n"\\\u2028\u2029\u007f', sql: `'; drop table agents; --`, html: '<script>alert(1)</script>',
    template: '{input.x} ${x} {{x}} %s', long: 'x'.repeat(50_000),
  };

  test('odd members, in metadata, input and context', async () => {
    const made = (await root.post('/api/v1/agents',
      { name: 'odd', metadata: odd, grants: [{ capability: 'email.send', hitlMode: 'propose' }, { capability: 'web.search' }] }))
        .expect(201);
    expect((await root.get(`/api/v1/agents/${made.text('agent.id')}`)).expect(200).at('agent.metadata')).toEqual(odd);
    const client = root.with({ authorization: `Bearer ${made.text('token')}` });
    const asked = (await client.post('/api/v1/execute', { capability: 'email.send', input: odd, context: odd, action: 'ødd' }))
      .expect(202);
    const shown = (await root.get(`/api/v1/hitl/${asked.text('hitlRequestId')}`)).expect(200);
    expect(shown.at('input')).toEqual(odd);
    const ran = (await client.post('/api/v1/execute', { capability: 'web.search', payload: odd })).expect(200);
    const read = (await root.get(`/api/v1/executions/${ran.text('executionId')}`)).expect(200);
    expect(read.at('execution.input')).toEqual(odd);
    const entries = (await root.get('/api/v1/audit', { query: { agentId: made.text('agent.id'), event: 'execution.started' } }))
      .expect(200);
    expect(entries.at('entries.0.metadata.input')).toEqual(odd);
  });

  test('64 levels, 256 KiB to the byte, and other spellings of the media type', async () => {
    let deep: unknown = 1;
    for (let level = 0; level < 62; level++) deep = { a: deep };
    const made = (await root.post('/api/v1/agents', { name: 'deep', metadata: { a: deep } })).expect(201);
    expect((await root.get(`/api/v1/agents/${made.text('agent.id')}`)).at('agent.metadata')).toEqual({ a: deep });
    const full = `{"name":"full","metadata":{"padding":"${'x'.repeat(BODY_BYTES_MAX - 41)}"}}`;
    expect(Buffer.byteLength(full)).toBe(BODY_BYTES_MAX);
    (await root.post('/api/v1/agents', undefined, { raw: full })).expect(201);
    for (const type of ['application/json; charset=utf-8', 'Application/JSON', 'application/json;charset="UTF-8"',
      'application/problem+json', 'application/json; a=b']) {
      (await root.post('/api/v1/agents', undefined, { raw: '{"name":"typed"}', headers: { 'content-type': type } })).expect(201);
    }
  });

  test('a POST without a body needs no media type', async () => {
    const { id } = await anAgent(server).create();
    const answer = await sendRaw(server.url,
      { method: 'POST', target: `/api/v1/agents/${id}/deactivate`, headers: ['authorization', `Bearer ${ROOT_KEY}`] });
    expect(answer.status).toBe(200);
  });
});

describe('members of nobody', () => {
  const MARK = 'mass_assigned';
  const camel = (name: string) => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
  // Names under which the interface accepts something, or refuses it for now.
  const NAMED = [
    'note', 'comment', 'reason', 'input', 'payload', 'owner_id', 'team_id', 'limits', 'quorum', 'reminders', 'edited_input',
    'break_glass',
  ];

  test('every column of every table, sent to every write, is refused, or stored nowhere where lenience is asked for', async () => {
    const columns = await server.sql<{ name: string }>(
      'select distinct column_name as name from information_schema.columns where table_schema = current_schema()',
    );
    expect(columns.length).toBeGreaterThan(60);
    const wrong: string[] = [];
    // Forms take no JSON, what people sign in by is no member of a body, and vendors' formats are judged by their providers.
    const writes = (await routesOf(server)).filter((route) => route.method !== 'GET' && route.method !== 'DELETE'
      && !route.takesForm && !isOfVendors(route) && !/^\/(?:api|internal)\/v1\/auth\//.test(route.template));
    for (const route of writes) {
      const known = new Set([...Object.keys(route.members), ...NAMED.flatMap((name) => [name, camel(name)])]);
      const unknown = columns.flatMap(({ name }) => [name, camel(name)])
        .filter((name) => !known.has(name) && !known.has(camel(name)));
      const place = await freshPlace();
      const target = await targetOf(route, place);
      const setup = route.template.endsWith('/node/activate') ? { token: await setupTokenOf(await place.agent()) } : {};
      const body = { ...Object.fromEntries(unknown.map((name) => [name, MARK])), ...target.body, ...setup };
      const client = await callerOf(route, place);
      const refused = await callRoute(client, route, target.path, body);
      if (refused.status !== 400) wrong.push(`${route.method} ${route.template}: not refused, ${refused.status}`);
      const { status, body: answer } = await callRoute(client.with({ prefer: 'handling=lenient' }), route, target.path, body);
      if (status >= 400 && status !== 409) wrong.push(`${route.method} ${route.template}: ${status} ${JSON.stringify(answer)}`);
    }
    expect(writes.length).toBeGreaterThan(20);
    expect(wrong).toEqual([]);
    expect(await tablesWith(MARK)).toEqual([]);
  });

  interface FreshPlace extends ObjectOwner {
    readonly person: BuiltPerson;
  }

  /** Nothing has been done yet to what a call names there. */
  async function freshPlace(): Promise<FreshPlace> {
    const person = await aPerson(server, 'viewer');
    const { organizationId } = person;
    return {
      server, organizationId, person, sibling: await anOrganization(server),
      agent: once(() => anAgentOf(server, organizationId, person)), account: async () => person,
    };
  }

  async function callerOf({ access }: Route, place: FreshPlace): Promise<Client> {
    if (access === 'agents.refresh-token' || access === 'node.work') return (await place.agent()).client;
    if (access.endsWith('-self')) return place.person.client;
    return access === 'agents.exchange-key' ? (await anAgentKey(server, await place.agent())).client : root;
  }

  const setupTokenOf = async ({ id }: BuiltAgent) => (await root.post(`/api/v1/agents/${id}/setup-token`)).expect(201).text('setupToken');

  async function tablesWith(text: string): Promise<string[]> {
    const found: string[] = [];
    for (const table of Object.keys(await storedState(server))) {
      const rows = await server.sql(`select 1 from "${table}" t where strpos(t::text, $1) > 0 limit 1`, [text]);
      if (rows.length > 0) found.push(table);
    }
    return found;
  }

  test('the log verifies after all of it', async () => {
    expect((await root.get('/api/v1/audit/verify')).expect(200).body).toMatchObject({ valid: true, breaks: [] });
  });
});
