import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { asAgent, asRoot, type Client } from '../../support/http/actors.js';
import { anAgent, type BuiltAgent } from '../../support/builders/agents.js';
import { defineCapability, executionOf } from '../../support/builders/gate.js';
import { anOrganization, aPerson } from '../../support/builders/people.js';
import { startReceiver, type Receiver } from '../../support/http/receiver.js';
import { auditOf } from '../../support/log/entries.js';
import { storedState } from '../../support/log/stored-state.js';
import { startServer, type TestServer } from '../../support/servers/server.js';

const VALUE = 'canary/5ecret+"value"~of a connector';

let server: TestServer;
let replica: TestServer;
let receiver: Receiver;
let root: Client;
let names = 0;

beforeAll(async () => {
  server = await startServer({ env: { LOG_LEVEL: 'trace' } });
  replica = await startServer({ replicaOf: server, env: { LOG_LEVEL: 'trace' } });
  root = asRoot(server);
});
afterAll(async () => {
  await replica.stop();
  await server.stop();
});
beforeEach(async () => {
  receiver = await startReceiver();
});
afterEach(() => receiver.close());

async function aSecret(value: string = VALUE, origins: readonly string[] = [receiver.url]): Promise<string> {
  const name = `token-${++names}`;
  (await root.put(`/api/v1/secrets/${name}`, { value, origins })).expect(201);
  return name;
}

/** An agent that holds, as auto, a capability whose connector shows the secret to the receiver. */
async function holderOf(secret: string, connector: Readonly<Record<string, unknown>> = {}): Promise<BuiltAgent & { capability: string }> {
  const capability = `crm.secret-${++names}`;
  const headers = { authorization: `Bearer {secrets.${secret}}` };
  const http = { type: 'http', method: 'POST', url: `${receiver.url}/hook`, headers };
  await defineCapability(server, capability, { connector: { ...http, ...connector } });
  return { ...(await anAgent(server).granted(capability).create()), capability };
}

const call = ({ client, capability }: BuiltAgent & { capability: string }) => client.post('/api/v1/execute', { capability });

describe('secrets', () => {
  test('are set, listed with where they go and who names them, and removed once nobody does', async () => {
    const name = await aSecret(VALUE, [`${receiver.url}/`, 'https://b.example', receiver.url]);
    const origins = ['https://b.example', receiver.url].sort();
    const { capability } = await holderOf(name);
    const secret = { name, origins, usedBy: [capability], createdAt: expect.any(String), updatedAt: expect.any(String) };
    expect((await root.get('/api/v1/secrets')).expect(200).list('secrets')).toContainEqual(secret);
    (await root.delete(`/api/v1/secrets/${name}`)).expect(409, 'CONFLICT');
    const again = (await root.put(`/api/v1/secrets/${name}`, { value: 'another value', origins: [receiver.url] })).expect(200);
    expect(again.body).toEqual({ secret: { ...secret, origins: [receiver.url] } });
    (await root.patch(`/api/v1/capabilities/${capability}`, { connector: null })).expect(200);
    (await root.delete(`/api/v1/secrets/${name}`)).expect(204);
    (await root.delete(`/api/v1/secrets/${name}`)).expect(404);
    const entries = await server.sql(`select payload from audit_entries where event = 'admin.secret_changed' order by id`);
    expect(entries.length).toBeGreaterThanOrEqual(3);
  });

  test.each<[string, Record<string, unknown>, number, string]>([
    ['7 characters', { value: '1234567' }, 400, '/value'],
    ['8,193 characters', { value: 'x'.repeat(8_193) }, 400, '/value'],
    ['a control sign', { value: 'one\nand another' }, 400, '/value'],
    ['blanks alone', { value: ' '.repeat(10) }, 400, '/value'],
    ['no origin', { origins: [] }, 400, '/origins'],
    ['a path', { origins: ['https://a.example/x'] }, 400, '/origins/0'],
    ['a pattern', { origins: ['https://*.example.com'] }, 400, '/origins/0'],
    ['credentials', { origins: ['https://user:word@a.example'] }, 400, '/origins/0'],
    ['no address', { origins: ['https://a.example', 'a.example'] }, 400, '/origins/1'],
    ['an address where clouds hand out credentials', { origins: ['http://169.254.169.254'] }, 422, '/origins/0'],
  ])('not with %s', async (_name, parts, status, pointer) => {
    const reply = await root.put(`/api/v1/secrets/bad-${++names}`, { value: VALUE, origins: ['https://a.example'], ...parts });
    expect(reply.expect(status).at('errors.0.pointer')).toBe(pointer);
  });

  test('have names in lower case, and belong to one organization', async () => {
    (await root.put('/api/v1/secrets/Upper', { value: VALUE, origins: ['https://a.example'] })).expect(400, 'VALIDATION_FAILED');
    const name = await aSecret();
    const organizationId = await anOrganization(server);
    const stranger = await aPerson(server, 'owner', { organizationId });
    expect((await stranger.client.get('/api/v1/secrets')).expect(200).list('secrets')).toEqual([]);
    (await stranger.client.delete(`/api/v1/secrets/${name}`)).expect(404);
    const ours = () => server.sql('select * from secrets where name = $1 and organization_id <> $2', [name, organizationId]);
    const before = await ours();
    (await stranger.client.put(`/api/v1/secrets/${name}`, { value: 'of their own', origins: [receiver.url] })).expect(201);
    expect(before).toHaveLength(1);
    expect(await ours()).toEqual(before);
    (await stranger.client.delete(`/api/v1/secrets/${name}`)).expect(204);
    const connector = { type: 'http', method: 'POST', url: receiver.url, headers: { a: `{secrets.${name}}` } };
    const theirs = { name: 'crm.theirs', description: 'x', connector };
    (await stranger.client.post('/api/v1/capabilities', theirs)).expect(400, 'VALIDATION_FAILED');
  });

  test('are for definitions that there is one for, and at its origins alone', async () => {
    const name = await aSecret();
    const define = (connector: object) => root.post('/api/v1/capabilities', { name: `crm.d-${++names}`, description: 'x', connector });
    const http = { type: 'http', method: 'POST', url: `${receiver.url}/` };
    const missing = (await define({ ...http, headers: { 'X-A': '{secrets.not-there}' } })).expect(400, 'VALIDATION_FAILED');
    expect(missing.at('errors.0.pointer')).toBe('/connector/headers/X-A');
    const foreign = (await define({ ...http, url: 'https://evil.example/', body: { a: `{secrets.${name}}` } })).expect(422, 'UNSAFE_URL');
    expect(foreign.at('errors.0.pointer')).toBe('/connector/body');
    const inUrl = (await define({ ...http, url: `${receiver.url}/{secrets.${name}}` })).expect(400, 'VALIDATION_FAILED');
    expect(inUrl.at('errors.0.pointer')).toBe('/connector/url');
    (await define({ ...http, body: { a: `{secrets.${name}}` } })).expect(201);
  });
});

describe('a call with a secret', () => {
  test('shows it to the receiver, and to nobody else: it is in no row, no entry, no log line and no answer', async () => {
    receiver.standing(({ headers }) => {
      const seen = String(headers['authorization']);
      const base64 = Buffer.from(`u:${VALUE}`).toString('base64');
      return { body: { seen, [seen]: 1, percent: encodeURIComponent(VALUE), json: JSON.stringify({ VALUE }), base64 } };
    });
    const secret = await aSecret();
    const agent = await holderOf(secret, { body: { key: `{secrets.${secret}}` } });
    const reply = (await call(agent)).expect(200);
    expect(reply.at('status')).toBe('executed');
    expect(receiver.requests[0]!.headers['authorization']).toBe(`Bearer ${VALUE}`);
    expect(JSON.parse(receiver.requests[0]!.body)).toEqual({ key: VALUE });
    expect(reply.at('output')).toEqual({
      seen: 'Bearer [secret]', 'Bearer [secret]': 1, percent: '[secret]', json: '{"VALUE":"[secret]"}',
      base64: expect.stringMatching(/^.{1,4}\[secret\].{0,3}$/),
    });
    receiver.standing({ status: 500, body: { error: `no such key ${VALUE}` } });
    expect((await call(agent)).expect(200).body).toMatchObject({ status: 'failed', error: { code: 'CONNECTOR_STATUS' } });
    expect(await executionOf(server, reply.text('executionId'))).toMatchObject({ output: { seen: 'Bearer [secret]' } });
    const base64 = Buffer.from(VALUE).toString('base64').slice(0, 40);
    // A column of bytes stands in a dump as hexadecimal digits.
    const hex = Buffer.from(VALUE).toString('hex');
    const cores = [VALUE, encodeURIComponent(VALUE), 'canary', JSON.stringify(VALUE).slice(1, -1), base64, hex];
    const listed = await Promise.all(['/api/v1/secrets', '/api/v1/capabilities', '/api/v1/audit/export'].map((path) => root.get(path)));
    const answers = JSON.stringify([reply.body, ...listed.map((one) => one.expect(200).body), await auditOf(server, agent.id)]);
    expect(answers).toContain('admin.secret_changed');
    for (const text of cores) {
      for (const table of Object.keys(await storedState(server))) {
        expect([table, await server.sql(`select 1 from "${table}" t where strpos(t::text, $1) > 0`, [text])]).toEqual([table, []]);
      }
      for (const at of [server, replica]) expect(at.output()).not.toContain(text);
      expect(answers).not.toContain(text);
    }
  });

  test.each<[string, (value: string) => Record<string, string>, string]>([
    ['the type of a body', (value) => ({ 'content-type': `X/${value}; a=${value}` }), 'a body of type X/[secret]; a=[secret]'],
    ['a long type', (value) => ({ 'content-type': `${'x'.repeat(95)}/${value}` }), 'a body of type (not shown)'],
    ['an encoding', (value) => ({ 'content-encoding': value }), 'a body encoded as [secret]'],
    ['a long encoding', (value) => ({ 'content-encoding': `${'x'.repeat(95)}${value}` }), 'a body encoded as (not shown)'],
  ])('is cut out of %s too, before anything of that is cut', async (_name, headers, omitted) => {
    const agent = await holderOf(await aSecret('Canary;In A Header'));
    receiver.standing({ headers: headers('Canary;In A Header'), body: 'x' });
    expect((await call(agent)).expect(200).at('output.omitted')).toBe(omitted);
  });

  test('is not made once the secret is gone, is for another origin, or was changed past the service', async () => {
    const name = await aSecret();
    const agent = await holderOf(name);
    const refused = async () => {
      const reply = (await call(agent)).expect(200);
      expect(reply.body).toMatchObject({ status: 'failed', error: { code: 'CONNECTOR_SECRET', message: expect.stringContaining(name) } });
      expect(await executionOf(server, reply.text('executionId'))).toMatchObject({ status: 'failed' });
    };
    (await root.put(`/api/v1/secrets/${name}`, { value: VALUE, origins: ['https://other.example'] })).expect(200);
    await refused();
    await server.sql('update secrets set origins = array[$1] where name = $2', [receiver.url, name]);
    await refused();
    const other = await aSecret('the value of another');
    const moved = 'update secrets set sealed = (select sealed from secrets where name = $1), origins = array[$3] where name = $2';
    await server.sql(moved, [other, name, receiver.url]);
    await refused();
    await server.sql('delete from secrets where name = $1', [name]);
    await refused();
    expect(receiver.requests).toHaveLength(0);
  });

  test('a value rotated under load fails no call, and from the answer on the new one alone is shown, on each server', async () => {
    const name = await aSecret('value-number-0');
    const agent = await holderOf(name);
    const at = [agent.client, asAgent(replica, agent.token)];
    const execute = (client: Client) => client.post('/api/v1/execute', { capability: agent.capability });
    let isOver = false;
    const load = Promise.all(Array.from({ length: 8 }, async (_, index) => {
      const statuses: unknown[] = [];
      while (!isOver) statuses.push((await execute(at[index % 2]!)).expect(200).at('status'));
      return statuses;
    }));
    for (let n = 1; n <= 5; n++) {
      (await root.put(`/api/v1/secrets/${name}`, { value: `value-number-${n}`, origins: [receiver.url] })).expect(200);
      const before = receiver.requests.length;
      for (const client of at) (await execute(client)).expect(200);
      const shown = receiver.requests.slice(before).map(({ headers }) => headers['authorization']);
      // Calls that read the former value before the answer may still be on their way.
      expect(shown.filter((value) => value === `Bearer value-number-${n}`).length).toBeGreaterThanOrEqual(2);
    }
    isOver = true;
    const statuses = (await load).flat();
    expect(statuses.length).toBeGreaterThan(10);
    expect(new Set(statuses)).toEqual(new Set(['executed']));
  });

  test('an approval is for a definition that names the secret, and outlives a new value of it', async () => {
    const name = await aSecret();
    const capability = `crm.asked-${++names}`;
    const connector = { type: 'http', method: 'POST', url: receiver.url, headers: { authorization: `{secrets.${name}}` } };
    await defineCapability(server, capability, { connector });
    const agent = await anAgent(server).granted(capability, { hitlMode: 'propose' }).create();
    const asked = (await agent.client.post('/api/v1/execute', { capability })).expect(202);
    (await root.put(`/api/v1/secrets/${name}`, { value: 'a new value', origins: [receiver.url] })).expect(200);
    const approved = await root.post(`/api/v1/hitl/${asked.text('hitlRequestId')}/approve`, {}, { query: { wait: 10 } });
    expect(approved.expect(200).at('request.execution')).toMatchObject({ status: 'executed' });
    expect(receiver.requests.map(({ headers }) => headers['authorization'])).toEqual(['a new value']);
  });
});
