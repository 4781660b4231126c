import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { asRoot, type Client, type Reply } from '../../support/http/actors.js';
import { entriesOf } from '../../support/log/entries.js';
import { anAgent } from '../../support/builders/agents.js';
import { startServer, type TestServer } from '../../support/servers/server.js';
import { storedState } from '../../support/log/stored-state.js';

// The table of the interface's names, with the modes and scores that were decided for them.
const CATALOGUE = `
  web.search web auto 10 | file.read file auto 15 | calendar.read calendar auto 10 | data.query data auto 20
  email.send communication propose 55 | calendar.write calendar notify 30 | file.delete file propose 65
  data.write data propose 55 | file.write file notify 40
  web.post web propose 60 | code.execute compute propose 75 | agent.spawn agent escalate 80
  phone.call communication escalate 80 | finance.transfer finance escalate 95 | finance.payment finance escalate 95
  system.shutdown system escalate 100 | data.delete data escalate 90 | file:read file auto 15 | file:write file notify 40
  db:read data auto 20 | db:mutate data propose 60 | api:call web propose 45 | email:send communication propose 55
  llm:invoke llm auto 25`.split(/[|\n]/).map((row) => row.trim().split(' ')).filter(([name]) => name !== '');
const HARDCODED = ['phone.call', 'finance.transfer', 'finance.payment', 'system.shutdown', 'data.delete'];
const connector = { type: 'http', method: 'POST', url: 'https://crm.example/{input.id}' };

let server: TestServer;
let root: Client;

beforeAll(async () => {
  server = await startServer();
  root = asRoot(server);
});
afterAll(() => server.stop());

let made = 0;
const freshName = () => `crm.update-${++made}`;
const define = (body: object): Promise<Reply> => root.post('/api/v1/capabilities',
  { description: 'Changes a customer', ...body });
const change = (name: string, body: object): Promise<Reply> => root.patch(`/api/v1/capabilities/${name}`, body);

async function listed(name: string, by: Client = root): Promise<Record<string, unknown> | undefined> {
  const all = (await by.get('/api/v1/capabilities')).expect(200).list('capabilities') as Record<string, unknown>[];
  return all.find((one) => one.name === name);
}

const pointers = (refused: Reply) => (refused.list('errors') as { pointer: string }[]).map(({ pointer }) => pointer);

describe('the catalogue', () => {
  test('names every capability of the interface with its category, mode and risk', async () => {
    const fresh = await startServer();
    try {
      const answer = (await asRoot(fresh).get('/api/v1/capabilities')).expect(200);
      expect(Object.keys(answer.body as object)).toEqual(['capabilities']);
      const found = answer.list('capabilities') as Record<string, unknown>[];
      const rows = found.map(({ name, category, defaultHitlMode, riskScore }) => [name, category, defaultHitlMode,
        String(riskScore)]);
      expect(rows.sort()).toEqual([...CATALOGUE].sort());
      for (const one of found) {
        expect(one.id).toBe(one.name);
        expect(one.hardcoded).toBe(HARDCODED.includes(String(one.name)));
        expect(String(one.description).length).toBeGreaterThan(5);
        expect(one.inputSchema).toBeNull();
        expect(one).not.toHaveProperty('connector');
      }
    } finally {
      await fresh.stop();
    }
  });

  test('agents may read it, but not where calls go', async () => {
    const name = freshName();
    (await define({ name, connector })).expect(201);
    const agent = await anAgent(server).create();
    expect(await listed(name)).toHaveProperty('connector');
    expect(await listed(name, agent.client)).toMatchObject({ id: name, defaultHitlMode: 'propose' });
    expect(JSON.stringify((await agent.client.get('/api/v1/capabilities')).body)).not.toContain('crm.example');
  });
});

describe('an organization\'s own', () => {
  test('by name and description alone: propose, 50, custom', async () => {
    const name = freshName();
    const answer = (await define({ name })).expect(201);
    expect(answer.at('capability')).toEqual({
      id: name, name, description: 'Changes a customer', category: 'custom', defaultHitlMode: 'propose', hardcoded: false,
      riskScore: 50, inputSchema: null,
    });
    expect(await listed(name)).toEqual(answer.at('capability'));
  });

  test('with everything, in either spelling', async () => {
    const name = `${freshName()}:x_1.y-2`;
    const inputSchema = { type: 'object', required: ['id'], properties: { id: { type: 'integer' } } };
    const answer = (await define({ name, category: 'crm', default_hitl_mode: 'notify', risk_score: 0, input_schema: inputSchema,
      connector })).expect(201);
    expect(answer.at('capability')).toMatchObject({ category: 'crm', defaultHitlMode: 'notify', riskScore: 0, inputSchema });
    expect(answer.at('capability.connector')).toMatchObject({ ...connector, timeoutSeconds: 30, maxBytes: 262_144,
      idempotent: false });
    const [entry] = await entriesOf(server, 'capability.defined');
    expect(entry).toMatchObject({ actorId: 'root', capability: name,
      metadata: { capability: name, riskScore: 0, hitlMode: 'notify' } });
    expect(entry).not.toHaveProperty('agentId');
  });

  test('members that it does not know change nothing', async () => {
    const name = freshName();
    const sent = {
      name, description: 'Changes a customer', hardcoded: true, custom: false, digest: 'x', organizationId: 'org_x', id: 'web.search',
    };
    (await define(sent)).expect(400, 'VALIDATION_FAILED');
    const answer = (await root.with({ prefer: 'handling=lenient' }).post('/api/v1/capabilities', sent)).expect(201);
    expect(answer.at('capability')).toMatchObject({ id: name, hardcoded: false });
    const [row] = await server.sql('select * from capability_definitions where name = $1', [name]);
    expect(row).toMatchObject({ custom: true });
    expect(JSON.stringify(row)).not.toContain('org_x');
  });

  test('one that exists, the catalogue\'s included, is 409', async () => {
    const name = freshName();
    (await define({ name })).expect(201);
    (await define({ name })).expect(409, 'CONFLICT');
    for (const taken of ['web.search', 'file:read', 'agent.spawn']) (await define({ name: taken })).expect(409, 'CONFLICT');
  });

  test('of parallel definitions of one name one is made', async () => {
    const name = freshName();
    const answers = await Promise.all(Array.from({ length: 5 }, () => define({ name })));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409]);
  });

  test.each<[string, object, string]>([
    ['no name', { description: 'x' }, '/name'], ['a name without a dot', { name: 'crm' }, '/name'],
    ['a name in capitals', { name: 'CRM.Update' }, '/name'],
    ['a name with a blank', { name: 'crm update.x' }, '/name'], ['a name that ends in a dot', { name: 'crm.' }, '/name'],
    ['a name that begins with a dot', { name: '.crm.x' }, '/name'],
    ['a name with two dots', { name: 'crm..x' }, '/name'], ['a name with a slash', { name: 'crm/x.y' }, '/name'],
    ['a name that begins with a digit', { name: '1crm.x' }, '/name'],
    ['a long name', { name: `crm.${'x'.repeat(200)}` }, '/name'], ['a name of two lines', { name: 'crm.x\n' }, '/name'],
    ['a star', { name: 'crm.*' }, '/name'],
    ['no description', { name: 'crm.undescribed', description: undefined }, '/description'],
    ['a blank description', { name: 'crm.x', description: '  ' }, '/description'],
    ['an unknown mode', { name: 'crm.x', defaultHitlMode: 'ask' }, '/defaultHitlMode'],
    ['a grant\'s word for a mode', { name: 'crm.x', default_hitl_mode: 'never' }, '/default_hitl_mode'],
    ['a score below 0', { name: 'crm.x', riskScore: -1 }, '/riskScore'],
    ['a score over 100', { name: 'crm.x', risk_score: 101 }, '/risk_score'],
    ['a score as text', { name: 'crm.x', riskScore: '5' }, '/riskScore'],
    ['a schema that is no object', { name: 'crm.x', inputSchema: [] }, '/inputSchema'],
    ['a schema of something else than objects', { name: 'crm.x', inputSchema: { type: 'string' } }, '/inputSchema/type'],
    ['a schema with an unknown type', { name: 'crm.x', inputSchema: { properties: { a: { type: 'integr' } } } }, '/inputSchema'],
    ['a schema with a pattern that backtracks', { name: 'crm.x', inputSchema: { properties: { a: { pattern: '(?=x)y' } } } },
      '/inputSchema'],
    ['a schema that refers elsewhere', { name: 'crm.x', inputSchema: { $ref: 'https://example.org/schema' } },
      '/inputSchema/$ref'],
    ['a schema that refers to itself', { name: 'crm.x', inputSchema: { properties: { a: { $ref: '#' } } } }, '/inputSchema'],
    ['a schema that is too long', { name: 'crm.x', inputSchema: { description: 'x'.repeat(17_000) } }, '/inputSchema'],
    ['a connector that is no object', { name: 'crm.x', connector: 'https://crm.example' }, '/connector'],
    ['a connector of an unknown type', { name: 'crm.x', connector: { ...connector, type: 'ftp' } }, '/connector/type'],
    ['a connector without a method', { name: 'crm.x', connector: { type: 'http', url: 'https://crm.example' } },
      '/connector/method'],
    ['a connector without an address', { name: 'crm.x', connector: { type: 'http', method: 'GET' } }, '/connector/url'],
    ['an origin that the input chooses', { name: 'crm.x', connector: { ...connector, url: 'https://{input.host}/x' } },
      '/connector/url'],
    ['a scheme that is not HTTP', { name: 'crm.x', connector: { ...connector, url: 'file:///etc/passwd' } }, '/connector/url'],
    ['credentials in an address', { name: 'crm.x', connector: { ...connector, url: 'https://a:b@crm.example/' } },
      '/connector/url'],
    ['a path that climbs', { name: 'crm.x', connector: { ...connector, url: 'https://crm.example/%2e%2e/x' } }, '/connector/url'],
    ['a header that frames the message', { name: 'crm.x', connector: { ...connector, headers: { Host: 'x' } } },
      '/connector/headers/Host'],
    ['a header with a line break', { name: 'crm.x', connector: { ...connector, headers: { 'X-A': 'a\r\nB: c' } } },
      '/connector/headers/X-A'],
    ['a body with GET', { name: 'crm.x', connector: { type: 'http', method: 'GET', url: 'https://crm.example', body: {} } },
      '/connector/body'],
    ['too long a wait', { name: 'crm.x', connector: { ...connector, timeoutSeconds: 121 } }, '/connector/timeoutSeconds'],
    ['too large an answer', { name: 'crm.x', connector: { ...connector, maxBytes: 262_145 } }, '/connector/maxBytes'],
    ['a misspelt member of a connector', { name: 'crm.x', connector: { ...connector, idempotant: true } },
      '/connector/idempotant'],
  ])('%s is refused: 400 at its place', async (_, body, pointer) => {
    const before = await storedState(server);
    const refused = (await define(body)).expect(400, 'VALIDATION_FAILED');
    expect(pointers(refused)).toContain(pointer);
    expect(await storedState(server)).toEqual(before);
  });

  test('what is sent is changed, null clears, the rest stays, each change is recorded', async () => {
    const name = freshName();
    const inputSchema = { type: 'object' };
    (await define({ name, category: 'crm', inputSchema, connector, riskScore: 7 })).expect(201);
    const changed = (await change(name, { description: 'Other', defaultHitlMode: 'auto', inputSchema: null })).expect(200);
    expect(changed.at('capability')).toMatchObject({ description: 'Other', category: 'crm', riskScore: 7, defaultHitlMode: 'auto',
      inputSchema: null });
    expect(changed.at('capability')).toHaveProperty('connector');
    const cleared = (await change(name, { connector: null })).expect(200);
    expect(cleared.at('capability')).not.toHaveProperty('connector');
    expect(await listed(name)).toEqual(cleared.at('capability'));
    const entries = (await entriesOf(server, 'capability.definition_updated')).filter(({ capability }) => capability === name);
    expect(entries).toHaveLength(2);
    expect(new Set(entries.map(({ metadata }) => metadata.definition)).size).toBe(2);
    (await change('no.such', { description: 'x' })).expect(404, 'NOT_FOUND');
    for (const body of [{ description: '' }, { riskScore: 101 }, { connector: [] },
      { defaultHitlMode: null }]) (await change(name, body)).expect(400);
  });

  test('a schema and a mode hold from the very next call on', async () => {
    const name = freshName();
    (await define({ name, defaultHitlMode: 'auto' })).expect(201);
    const agent = await anAgent(server).granted(name, { hitlMode: 'auto' }).create();
    const run = (input: object) => agent.client.post('/api/v1/execute', { capability: name, input });
    (await run({ id: 'x' })).expect(200);
    (await change(name, { inputSchema: { type: 'object', required: ['id'], properties: { id: { type: 'integer' } } } }))
      .expect(200);
    const refused = (await run({ id: 'x' })).expect(422, 'INVALID_INPUT');
    expect(pointers(refused)).toEqual(['/input/id']);
    (await run({})).expect(422, 'INVALID_INPUT');
    (await run({ id: 5 })).expect(200);
    // A grant keeps the mode that it was given; only one that names none takes the default of its moment.
    (await change(name, { defaultHitlMode: 'block' })).expect(200);
    (await run({ id: 5 })).expect(200);
    const other = await anAgent(server).create();
    const granted = (await root.post(`/api/v1/agents/${other.id}/capabilities`, { capability: name })).expect(201);
    expect(granted.at('grant')).toMatchObject({ hitlMode: 'block', effectiveMode: 'block' });
  });

  test('goes when nobody holds it', async () => {
    const name = freshName();
    (await define({ name })).expect(201);
    const agent = await anAgent(server).granted(name).create();
    (await root.delete(`/api/v1/capabilities/${name}`)).expect(409, 'CONFLICT');
    expect(await listed(name)).toBeDefined();
    const id = (await root.get(`/api/v1/agents/${agent.id}/capabilities`)).text('grants.0.id');
    (await root.delete(`/api/v1/capabilities/grant/${id}`)).expect(204);
    const removed = (await root.delete(`/api/v1/capabilities/${name}`)).expect(204);
    expect(removed.body).toBeUndefined();
    expect(await listed(name)).toBeUndefined();
    (await root.delete(`/api/v1/capabilities/${name}`)).expect(404, 'NOT_FOUND');
    (await root.post(`/api/v1/agents/${agent.id}/capabilities`, { capability: name })).expect(404, 'NOT_FOUND');
    expect((await entriesOf(server, 'capability.definition_removed'))[0]).toMatchObject({ actorId: 'root', capability: name });
    (await define({ name })).expect(201);
  });
});

describe('the catalogue\'s own', () => {
  test('connector, schema and mode may be set for the organization; the rest is fixed', async () => {
    const changed = (await change('web.post', { defaultHitlMode: 'notify', connector, inputSchema: { type: 'object' } }))
      .expect(200);
    expect(changed.at('capability')).toMatchObject({ name: 'web.post', category: 'web', riskScore: 60, hardcoded: false,
      defaultHitlMode: 'notify' });
    const refused = (await change('web.post', { description: 'x', category: 'y', riskScore: 1 }))
      .expect(400, 'VALIDATION_FAILED');
    expect(pointers(refused).sort()).toEqual(['/category', '/description', '/riskScore']);
    const agent = await anAgent(server).create();
    const granted = (await root.post(`/api/v1/agents/${agent.id}/capabilities`, { capability: 'web.post' })).expect(201);
    expect(granted.text('grant.hitlMode')).toBe('notify');
  });

  test('none of them can be deleted', async () => {
    for (const [name = ''] of CATALOGUE) (await root.delete(`/api/v1/capabilities/${name}`)).expect(409, 'CONFLICT');
    expect((await root.get('/api/v1/capabilities')).list('capabilities').length).toBeGreaterThanOrEqual(CATALOGUE.length);
  });
});
