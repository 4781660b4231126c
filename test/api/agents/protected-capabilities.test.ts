import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { asRoot, type Client, type Reply } from '../../support/http/actors.js';
import { anAgent } from '../../support/builders/agents.js';
import { startServer, type TestServer } from '../../support/servers/server.js';
import { storedState } from '../../support/log/stored-state.js';

const HARDCODED = ['phone.call', 'finance.transfer', 'finance.payment', 'system.shutdown', 'data.delete'];
const connector = { type: 'http', method: 'POST', url: 'https://crm.example/{input.id}' };

let server: TestServer;
let root: Client;

beforeAll(async () => {
  server = await startServer();
  root = asRoot(server);
});
afterAll(() => server.stop());

const define = (body: object): Promise<Reply> => root.post('/api/v1/capabilities',
  { description: 'Changes a customer', ...body });
const change = (name: string, body: object): Promise<Reply> => root.patch(`/api/v1/capabilities/${name}`, body);

async function listed(name: string, by: Client = root): Promise<Record<string, unknown> | undefined> {
  const all = (await by.get('/api/v1/capabilities')).expect(200).list('capabilities') as Record<string, unknown>[];
  return all.find((one) => one.name === name);
}

const pointers = (refused: Reply) => (refused.list('errors') as { pointer: string }[]).map(({ pointer }) => pointer);

describe('hardcoded capabilities', () => {
  test('nobody changes their mode; connector and schema may be set', async () => {
    for (const name of HARDCODED) {
      for (const defaultHitlMode of ['auto', 'notify', 'propose', 'block']) {
        (await change(name, { defaultHitlMode })).expect(422, 'HARDCODED_CAPABILITY');
        (await change(name, { default_hitl_mode: defaultHitlMode, connector })).expect(422, 'HARDCODED_CAPABILITY');
      }
      expect(await listed(name)).toMatchObject({ hardcoded: true, defaultHitlMode: 'escalate' });
      expect(await listed(name)).not.toHaveProperty('connector');
    }
    (await change('phone.call', { inputSchema: { type: 'object' } })).expect(200);
    expect(await listed('phone.call')).toMatchObject({ hardcoded: true, defaultHitlMode: 'escalate' });
    const agent = await anAgent(server).granted('phone.call', { hitlMode: 'auto' }).create();
    (await agent.client.post('/api/v1/execute', { capability: 'phone.call' })).expect(202);
  });

  test('nobody defines one, however it is spelt', async () => {
    const before = await storedState(server);
    for (const name of [
      ...HARDCODED, ...HARDCODED.map((name) => name.replace('.', ':')), 'phone.ca11', 'phone.cal1', 'ph0ne.call', 'phone.c-all',
      'phone_.call', 'phone.call_', 'data.de1ete', 'data.d-e-lete', 'data.dele7e', 'system.shutd0wn', 'system.5hutdown',
      'finance.payrnent', 'f1nance.transfer', 'fi-nance.transfer', 'phone.c.all', 'Phone.Call', 'PHONE.CALL', 'phone.cаll', 'рhone.call',
      'phone．call', 'dаta.delete', 'finance.pаyment', 'ｐhone.call',
    ]) (await define({ name, defaultHitlMode: 'auto' })).expect(422, 'HARDCODED_CAPABILITY');
    expect(await storedState(server)).toEqual(before);
  });

  test('a name that only begins like one is one\'s own', async () => {
    for (const name of ['phone.callback-list', 'finance.transfers.read', 'data.deletion-report',
      'system.shutdown.check']) (await define({ name })).expect(201);
  });
});

describe('addresses that connectors may call in production', () => {
  let production: TestServer;

  beforeAll(async () => {
    production = await startServer({ env: { NODE_ENV: 'production', OUTBOUND_ALLOW: 'crm.internal,10.1.0.0/16' } });
  });
  afterAll(() => production.stop());

  test.each([
    'http://crm.example/', 'https://127.0.0.1/', 'https://localhost/', 'https://localhost.:8443/', 'https://[::1]/',
    'https://10.0.0.1/', 'https://192.168.1.1/',
    'https://172.16.0.1/', 'https://169.254.169.254/latest/meta-data/', 'https://0.0.0.0/', 'https://2130706433/',
    'https://0x7f000001/', 'https://0177.0.0.1/',
    'https://127.1/', 'https://[::ffff:127.0.0.1]/', 'https://[::ffff:7f00:1]/', 'https://[fd00::1]/', 'https://[fe80::1]/',
    'https://[64:ff9b::7f00:1]/',
    'https://[2002:7f00:1::]/', 'https://100.64.0.1/', 'https://printer.local/', 'https://metadata.google.internal/',
    'https://①②⑦.0.0.1/',
  ])('%s is not one', async (url) => {
    const refused = await asRoot(production).post('/api/v1/capabilities',
      { name: 'crm.unsafe', description: 'x', connector: { type: 'http', method: 'GET', url } });
    refused.expect(422, 'UNSAFE_URL');
    expect(pointers(refused)).toEqual(['/connector/url']);
    (await asRoot(production).patch('/api/v1/capabilities/web.search', { connector: { type: 'http', method: 'GET', url } }))
      .expect(422, 'UNSAFE_URL');
  });

  test('public ones are, and those that the operator allows', async () => {
    for (const [at, url] of ['https://crm.example/x', 'https://8.8.8.8/', 'http://crm.internal:8080/',
      'http://10.1.2.3/'].entries()) {
      const body = { name: `crm.safe-${at}`, description: 'x', connector: { type: 'http', method: 'GET', url } };
      (await asRoot(production).post('/api/v1/capabilities', body)).expect(201);
    }
  });
});
