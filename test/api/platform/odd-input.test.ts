import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { asRoot, type Client } from '../../support/http/actors.js';
import { BODY_BYTES_MAX, goodBody } from '../../support/routes/bad-bodies.js';
import { anAgent, anAgentKey } from '../../support/builders/agents.js';
import { closeRawConnections, sendRaw } from '../../support/http/raw-http.js';
import { callRoute, pathOf, routesOf } from '../../support/routes/routes.js';
import { anErasure, aPerson, aTeam } from '../../support/builders/people.js';
import { aTenant } from '../../support/builders/tenants.js';
import { startServer, type TestServer } from '../../support/servers/server.js';
import { storedState } from '../../support/log/stored-state.js';
import { ROOT_KEY } from '../../support/servers/test-run.js';

let server: TestServer;
let root: Client;

beforeAll(async () => {
  server = await startServer();
  root = asRoot(server);
});

afterAll(async () => {
  closeRawConnections();
  await server.stop();
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
    const full = `{"name":"full","padding":"${'x'.repeat(BODY_BYTES_MAX - 28)}"}`;
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

  test('every column of every table, sent to every write, changes nothing and is stored nowhere', async () => {
    const columns = await server.sql<{ name: string }>(
      'select distinct column_name as name from information_schema.columns where table_schema = current_schema()',
    );
    expect(columns.length).toBeGreaterThan(60);
    (await root.post('/api/v1/capabilities', { name: 'own.one', description: 'mine' })).expect(201);
    const wrong: string[] = [];
    // Forms take no JSON, and what people sign in by is no member of a body; both have tests of their own.
    const writes = (await routesOf(server)).filter(({ method, template }) =>
      method !== 'GET' && method !== 'DELETE' && !/^\/(?:sign-in|invitations)\b|^\/(?:api|internal)\/v1\/auth\//.test(template));
    for (const route of writes) {
      const known = new Set([...Object.keys(route.members), ...NAMED.flatMap((name) => [name, camel(name)])]);
      const unknown = columns.flatMap(({ name }) => [name, camel(name)])
        .filter((name) => !known.has(name) && !known.has(camel(name)));
      const { ids, agents, userId, setupToken } = await freshThings();
      const good = goodBody(route, { agentId: ids.agents, userId, setupToken, organizationId: ids.organizations });
      const body = { ...Object.fromEntries(unknown.map((name) => [name, MARK])), ...good };
      const client = agents[route.access] ?? root;
      const { status, body: answer } = await callRoute(client, route, pathOf(route, ids), body);
      if (status >= 400 && status !== 409) wrong.push(`${route.method} ${route.template}: ${status} ${JSON.stringify(answer)}`);
    }
    expect(writes.length).toBeGreaterThan(20);
    expect(wrong).toEqual([]);
    expect(await tablesWith(MARK)).toEqual([]);
  });

  /** Something of each kind that nothing has been done to yet. */
  async function freshThings() {
    const made = await anAgent(server).granted('web.search').granted('email.send', { hitlMode: 'propose' }).create();
    const asked = (await made.client.post('/api/v1/execute', { capability: 'email.send' })).expect(202);
    const ran = (await made.client.post('/api/v1/execute', { capability: 'web.search' })).expect(200);
    const organization = (await root.post('/api/v1/organizations', { name: 'fresh' })).expect(201).text('organization.id');
    const body = { email: 'fresh@example.test', organizationId: organization };
    const user = (await root.post('/api/v1/users', body)).expect(201).text('user.id');
    const person = await aPerson(server, 'viewer');
    const ids = {
      teams: await aTeam(server, person.organizationId),
      organizations: organization, users: user,
      agents: made.id, hitl: asked.text('hitlRequestId'), executions: ran.text('executionId'), name: 'own.one',
      capability: 'web.search', erasures: await anErasure(server, person.organizationId), tenants: (await aTenant(server, 'enterprise')).id,
    };
    const setupToken = (await root.post(`/api/v1/agents/${made.id}/setup-token`)).expect(201).text('setupToken');
    const agents: Readonly<Record<string, Client>> = {
      'agents.refresh-token': made.client, 'agents.exchange-key': (await anAgentKey(server, made)).client,
    };
    return { ids, agents, userId: person.id, setupToken };
  }

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
