import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { asRoot, type Client } from '../../support/http/actors.js';
import { anAgent, type BuiltAgent } from '../../support/builders/agents.js';
import { executionOf } from '../../support/builders/gate.js';
import { type McpUpstream, startEverything, startModernMcp, startRewriter } from '../../support/http/mcp-servers.js';
import { type Answer, startReceiver, type Receiver } from '../../support/http/receiver.js';
import { freePort } from '../../support/servers/server-process.js';
import { startServer, type TestServer } from '../../support/servers/server.js';

type Holder = BuiltAgent & { readonly capability: string };

let server: TestServer;
let root: Client;
let names = 0;

beforeAll(async () => {
  server = await startServer();
  root = asRoot(server);
});
afterAll(() => server.stop());

const define = (connector: object, more: object = {}) =>
  root.post('/api/v1/capabilities', { name: `tool.t-${++names}`, description: 'x', connector: { type: 'mcp', ...connector }, ...more });

async function holderOf(connector: object, hitlMode = 'auto'): Promise<Holder> {
  const capability = (await define(connector)).expect(201).text('capability.name');
  return { ...(await anAgent(server).granted(capability, { hitlMode }).create()), capability };
}

const call = ({ client, capability }: Holder, input: object) => client.post('/api/v1/execute', { capability, input });
const approve = async (hitlRequestId: string) =>
  (await root.post(`/api/v1/hitl/${hitlRequestId}/approve`, {}, { query: { wait: 20 } })).expect(200).at('request.execution');

describe('@modelcontextprotocol/server-everything, which begins with initialize', () => {
  let everything: Awaited<ReturnType<typeof startEverything>>;
  let upstream: Awaited<ReturnType<typeof startRewriter>>;
  beforeAll(async () => {
    everything = await startEverything();
    upstream = await startRewriter(everything.url);
  });
  afterAll(async () => {
    await upstream.close();
    await everything.close();
  });

  test('granted, approved, refused; changed under us, it is not called', async () => {
    const defined = (await define({ url: upstream.url, tool: 'echo' })).expect(201);
    // What the tool takes holds for the capability, which has no schema of its own.
    expect(defined.at('capability.inputSchema')).toMatchObject({ type: 'object', required: ['message'] });
    const toolDigest = expect.stringMatching(/^[\w-]{43}$/);
    expect(defined.at('capability.connector')).toMatchObject({ type: 'mcp', tool: 'echo', toolDigest });
    const capability = defined.text('capability.name');
    const auto = { ...(await anAgent(server).granted(capability).create()), capability };
    const done = (await call(auto, { message: 'ü' })).expect(200);
    expect(done.body).toMatchObject({ status: 'executed', output: { content: [{ type: 'text', text: 'Echo: ü' }] } });
    const asking = { ...(await anAgent(server).granted(capability, { hitlMode: 'propose' }).create()), capability };
    const asked = (await call(asking, { message: 'approved' })).expect(202);
    expect(await approve(asked.text('hitlRequestId')))
      .toMatchObject({ status: 'executed', output: { content: [{ text: 'Echo: approved' }] } });
    (await call(asking, { message: 7 })).expect(422, 'INVALID_INPUT');
    (await call({ ...(await anAgent(server).create()), capability }, { message: 'x' })).expect(403);
    const calls = () => upstream.methods.filter((method) => method === 'tools/call').length;
    expect(calls()).toBe(2);
    upstream.rewrite((text) => text.replaceAll('Echoes back', 'Sends to everybody'));
    const replica = await startServer({ replicaOf: server });
    try {
      const reply = await asRoot(replica).post('/api/v1/execute', { capability, agentId: auto.id, input: { message: 'x' } });
      expect(reply.expect(200).body).toMatchObject({ status: 'failed', error: { code: 'CONNECTOR_CHANGED' } });
      expect(calls()).toBe(2);
      // Taken as it is now, it is another definition, and called again.
      const connector = { type: 'mcp', url: upstream.url, tool: 'echo' };
      (await asRoot(replica).patch(`/api/v1/capabilities/${capability}`, { connector })).expect(200);
      const again = await asRoot(replica).post('/api/v1/execute', { capability, agentId: auto.id, input: { message: 'x' } });
      expect(again.expect(200).at('status')).toBe('executed');
    } finally {
      await replica.stop();
    }
  });

  test('one session serves many calls, and a forgotten one is begun anew', async () => {
    const before = upstream.methods.length;
    const agent = await holderOf({ url: upstream.url, tool: 'get-sum' });
    for (let n = 0; n < 3; n++) expect((await call(agent, { a: n, b: 1 })).expect(200).at('status')).toBe('executed');
    expect(upstream.methods.slice(before)).toEqual([
      'server/discover', 'initialize', 'notifications/initialized', 'tools/list', 'tools/call', 'tools/call', 'tools/call',
    ]);
    upstream.forgetOnce();
    expect((await call(agent, { a: 5, b: 1 })).expect(200).body).toMatchObject({ status: 'executed' });
  });
});

describe('a server of the revision 2026-07-28', () => {
  let upstream: McpUpstream;
  beforeEach(async () => {
    upstream = await startModernMcp();
  });
  afterEach(() => upstream.close());

  const methods = () => upstream.requests.map(({ method }) => method);

  test('is asked without any state, with the key of the execution, and shown a secret that comes back cut', async () => {
    const origin = new URL(upstream.url).origin;
    (await root.put('/api/v1/secrets/orders', { value: 'canary-of-orders', origins: [origin] })).expect(201);
    const agent = await holderOf({ url: upstream.url, tool: 'order', headers: { Authorization: 'Bearer {secrets.orders}' } });
    const reply = (await call(agent, { item: 'bölt' })).expect(200);
    const output = { content: [{ type: 'text', text: 'ordered bölt Bearer [secret]' }], structuredContent: { item: 'bölt' } };
    expect(reply.body).toMatchObject({ status: 'executed', output });
    expect(methods()).toEqual(['server/discover', 'tools/list', 'tools/list', 'tools/call']);
    expect(upstream.requests.every(({ headers }) => headers.get('authorization') === 'Bearer canary-of-orders')).toBe(true);
    expect(upstream.requests.at(-1)!.headers.get('idempotency-key')).toBe(reply.text('executionId'));
    expect(JSON.stringify(await executionOf(server, reply.text('executionId')))).not.toContain('canary');
  });

  test('a tool that changes under us is not called, also where a person has approved the call', async () => {
    const agent = await holderOf({ url: upstream.url, tool: 'order' }, 'propose');
    const asked = (await call(agent, { item: 'x' })).expect(202);
    upstream.describe('Makes an order, and pays for it.');
    expect(await approve(asked.text('hitlRequestId'))).toMatchObject({ status: 'failed', error: { code: 'CONNECTOR_CHANGED' } });
    expect(upstream.ran.get('order')).toBeUndefined();
    const waiting = (await call(agent, { item: 'y' })).expect(202);
    const connector = { type: 'mcp', url: upstream.url, tool: 'order' };
    (await root.patch(`/api/v1/capabilities/${agent.capability}`, { connector })).expect(200);
    // Asked about as it was, it may no longer run.
    (await root.post(`/api/v1/hitl/${waiting.text('hitlRequestId')}/approve`)).expect(409, 'NOT_EXECUTABLE');
    const anew = (await call(agent, { item: 'z' })).expect(202);
    expect(await approve(anew.text('hitlRequestId'))).toMatchObject({ status: 'executed' });
    expect(upstream.ran.get('order')).toBe(1);
  });

  test('one that is taken anew is called by every server, also by one that knew it as it was', async () => {
    const patient = await startModernMcp({ ttlMs: 60_000 });
    const replica = await startServer({ replicaOf: server });
    try {
      const agent = await holderOf({ url: patient.url, tool: 'order' });
      const { id: agentId, capability } = agent;
      const there = () => asRoot(replica).post('/api/v1/execute', { capability, agentId, input: { item: 'x' } });
      expect((await there()).expect(200).at('status')).toBe('executed');
      patient.describe('Makes an order, and pays for it.');
      const connector = { type: 'mcp', url: patient.url, tool: 'order' };
      (await root.patch(`/api/v1/capabilities/${capability}`, { connector })).expect(200);
      expect((await there()).expect(200).at('status')).toBe('executed');
    } finally {
      await replica.stop();
      await patient.close();
    }
  });

  test('is asked for its tools no more often than it wants', async () => {
    const patient = await startModernMcp({ ttlMs: 60_000 });
    try {
      const agent = await holderOf({ url: patient.url, tool: 'order' });
      for (let n = 0; n < 3; n++) (await call(agent, { item: 'x' })).expect(200);
      expect(patient.requests.map(({ method }) => method))
        .toEqual(['server/discover', 'tools/list', 'tools/call', 'tools/call', 'tools/call']);
    } finally {
      await patient.close();
    }
  });

  test('a tool that says that it failed has failed, with what it said', async () => {
    const reply = (await call(await holderOf({ url: upstream.url, tool: 'refuse' }), {})).expect(200);
    expect(reply.body).toMatchObject({ status: 'failed', error: { code: 'CONNECTOR_ERROR' } });
    expect(await executionOf(server, reply.text('executionId'))).toMatchObject({ status: 'failed', output: { content: [{ text: 'no' }] } });
  });

  test('a definition says what is wrong with it', async () => {
    const good = { url: upstream.url, tool: 'order' };
    const wrong = async (connector: object, status: number) => (await define(connector)).expect(status).at('errors.0.pointer');
    expect(await wrong({ ...good, tool: 'pay' }, 400)).toBe('/connector/tool');
    expect(await wrong({ ...good, url: `http://127.0.0.1:${await freePort()}/mcp` }, 400)).toBe('/connector/url');
    expect(await wrong({ ...good, url: 'http://169.254.169.254/mcp' }, 422)).toBe('/connector/url');
    expect(await wrong({ ...good, headers: { a: '{secrets.not-there}' } }, 400)).toBe('/connector/headers/a');
    expect(await wrong({ ...good, command: 'npx' }, 400)).toBe('/connector/command');
    (await define({ ...good, toolDigest: 'A'.repeat(43) })).expect(409, 'CONFLICT');
    const kept = (await define(good, { inputSchema: { type: 'object', properties: { item: { const: 'x' } } } })).expect(201);
    expect(kept.at('capability.inputSchema.properties.item')).toEqual({ const: 'x' });
    (await define({ ...good, toolDigest: kept.text('capability.connector.toolDigest') })).expect(201);
  });
});

describe('a server that does not keep to the protocol', () => {
  let receiver: Receiver;
  let answer: (id: number) => Answer;
  let tools: object[];
  let ttlMs: number;
  beforeEach(async () => {
    tools = [{ name: 'do', inputSchema: { type: 'object' } }];
    ttlMs = 0;
    receiver = await startReceiver();
    receiver.standing(({ body }) => {
      const { id, method } = JSON.parse(body) as { id: number; method: string };
      const result = (told: object) => ({ body: { jsonrpc: '2.0', id, result: { resultType: 'complete', ...told } } });
      if (method === 'server/discover') return result({ supportedVersions: ['2026-07-28'], capabilities: { tools: {} } });
      if (method === 'tools/list') return result({ tools, ttlMs, cacheScope: 'private' });
      return answer(id);
    });
  });
  afterEach(() => receiver.close());

  const stream = (text: string) => ({ headers: { 'content-type': 'text/event-stream' }, body: text });
  const result = (id: unknown, told: object) => ({ jsonrpc: '2.0', id, result: { resultType: 'complete', content: [], ...told } });

  test.each<[string, (id: number) => Answer, string, string]>([
    ['hangs', () => ({ hang: 'before headers' }), 'indeterminate', 'CONNECTOR_TIMEOUT'],
    ['hangs after its headers', () => ({ hang: 'after headers', body: '{}' }), 'indeterminate', 'CONNECTOR_TIMEOUT'],
    ['drips', () => ({ body: { a: 'x'.repeat(1_000) }, drip: { bytes: 1, everyMs: 50 } }), 'indeterminate', 'CONNECTOR_TIMEOUT'],
    ['cuts the connection', () => ({ reset: true }), 'indeterminate', 'CONNECTOR_CONNECTION_LOST'],
    ['sends 10 MB', () => ({ body: 'x'.repeat(10_000_000) }), 'indeterminate', 'CONNECTOR_TOO_LARGE'],
    ['redirects', () => ({ status: 307, headers: { location: 'http://127.0.0.1/' } }), 'failed', 'CONNECTOR_STATUS'],
    ['answers garbage', () => ({ body: 'garbage' }), 'indeterminate', 'CONNECTOR_ANSWER'],
    ['answers nothing', () => ({ status: 202 }), 'indeterminate', 'CONNECTOR_ANSWER'],
    ['answers by another id', (id) => ({ body: result(id + 1, {}) }), 'indeterminate', 'CONNECTOR_ANSWER'],
    ['answers by another id in a stream', (id) => stream(`data: ${JSON.stringify(result(`${id}`, {}))}\n\n`), 'indeterminate',
      'CONNECTOR_ANSWER'],
    ['has a result of another kind', (id) => ({ body: result(id, { resultType: 'later' }) }), 'indeterminate', 'CONNECTOR_ANSWER'],
    ['wants more input', (id) => ({ body: result(id, { resultType: 'input_required', inputRequests: {} }) }), 'failed',
      'CONNECTOR_INPUT_REQUIRED'],
    ['answers an error', (id) => ({ body: { jsonrpc: '2.0', id, error: { code: -32602, message: 'no' } } }), 'failed', 'CONNECTOR_ERROR'],
    ['answers 400 with an error', () => ({ status: 400, body: { jsonrpc: '2.0', id: null, error: { code: -32020 } } }), 'failed',
      'CONNECTOR_ERROR'],
    ['answers 500', () => ({ status: 500 }), 'failed', 'CONNECTOR_STATUS'],
  ])('%s', async (_name, hostile, status, code) => {
    answer = hostile;
    const reply = (await call(await holderOf({ url: receiver.url, tool: 'do', timeoutSeconds: 2 }), {})).expect(200);
    expect(await executionOf(server, reply.text('executionId'))).toMatchObject({ status, error: { code } });
  });

  test('a stream that goes on after the answer is left, with what came before passed by', async () => {
    answer = (id) => {
      const progress = { jsonrpc: '2.0', method: 'notifications/progress', params: { progress: 1 } };
      const told = JSON.stringify(result(id, { content: [1] }));
      const events = `: hello\r\nid: 1\ndata:\n\ndata: ${JSON.stringify(progress)}\n\nevent: message\ndata: ${told}\n\n`;
      return { ...stream(`${events}${' '.repeat(events.length)}`), drip: { bytes: Buffer.byteLength(events), everyMs: 20_000 } };
    };
    const reply = (await call(await holderOf({ url: receiver.url, tool: 'do', timeoutSeconds: 5 }), {})).expect(200);
    expect(reply.body).toMatchObject({ status: 'executed', output: { content: [1] } });
  });

  test('an idempotent tool is asked again by the same key', async () => {
    let asked = 0;
    answer = (id) => (++asked < 3 ? { status: 503 } : { body: result(id, { content: ['done'] }) });
    const reply = (await call(await holderOf({ url: receiver.url, tool: 'do', idempotent: true, timeoutSeconds: 20 }), {})).expect(200);
    expect(reply.at('status')).toBe('executed');
    const keys = receiver.requests.filter(({ body }) => body.includes('tools/call')).map(({ headers }) => headers['idempotency-key']);
    expect(keys).toEqual(Array(3).fill(reply.text('executionId')));
  });

  const lists = () => receiver.requests.filter(({ body }) => body.includes('tools/list')).length;

  test('a tool that was away for a moment is called once it is back, however long it might be known as gone', async () => {
    answer = (id) => ({ body: result(id, {}) });
    const agent = await holderOf({ url: receiver.url, tool: 'do' });
    const told = tools;
    [tools, ttlMs] = [[], 60_000];
    expect((await call(agent, {})).expect(200).body).toMatchObject({ status: 'failed', error: { code: 'CONNECTOR_CHANGED' } });
    tools = told;
    expect((await call(agent, {})).expect(200).at('status')).toBe('executed');
  });

  test('a tool that has changed is looked up again at most once in a second, however often it is called', async () => {
    answer = (id) => ({ body: result(id, {}) });
    const agent = await holderOf({ url: receiver.url, tool: 'do' });
    [tools, ttlMs] = [[{ name: 'do', description: 'another' }], 60_000];
    const before = lists();
    const began = performance.now();
    const replies = (await Promise.all(Array.from({ length: 4 }, async () => {
      const made = [];
      for (let n = 0; n < 8; n++) made.push(await call(agent, {}));
      return made;
    }))).flat();
    const seconds = (performance.now() - began) / 1_000;
    for (const reply of replies) expect(reply.expect(200).at('error.code')).toBe('CONNECTOR_CHANGED');
    // The first ones find it out, as nothing good is known yet; of the others, those that begin another second.
    expect(lists() - before).toBeGreaterThan(1);
    expect(lists() - before).toBeLessThanOrEqual(4 + Math.ceil(seconds) + 1);
  });
});
