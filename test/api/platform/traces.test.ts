import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { anAgent, type BuiltAgent } from '../../support/builders/agents.js';
import { defineCapability, executionBecomes } from '../../support/builders/gate.js';
import { asRoot } from '../../support/http/actors.js';
import { EXECUTE } from '../../support/http/paths.js';
import { type Receiver, startReceiver } from '../../support/http/receiver.js';
import { type ReceivedSpan, startTraceReceiver, type TraceReceiver } from '../../support/http/trace-receiver.js';
import { eventually } from '../../support/running/eventually.js';
import { startServer, type TestServer } from '../../support/servers/server.js';

const ROUTE = `POST ${EXECUTE}`;
const TOOL = 'execute_tool traced.order';
const DECIDED = [ROUTE, TOOL, 'gate.decide', 'gate.commit'];
const RAN = [...DECIDED, 'runtime connector', 'gate.close'];
const [INTERNAL, SERVER, CLIENT] = [1, 2, 3];

let shop: Receiver;
let traces: TraceReceiver;
let server: TestServer;

beforeAll(async () => {
  [shop, traces] = await Promise.all([startReceiver(), startTraceReceiver()]);
  server = await startServer({ env: {
    OTEL_EXPORTER_OTLP_ENDPOINT: `${traces.url}/`, OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20of-the-receiver, x-team=a',
    OTEL_SERVICE_NAME: 'gate of tests',
  } });
  const connector = { type: 'http', method: 'POST', url: `${shop.url}/orders`, body: '{input}' };
  await defineCapability(server, 'traced.order', { connector });
});
afterAll(() => Promise.all([server.stop(), traces.close(), shop.close()]));

interface Caused {
  readonly traceId: string;
  readonly parent: string;
  readonly agent: BuiltAgent;
  call(input?: Record<string, unknown>, capability?: string): ReturnType<BuiltAgent['client']['post']>;
}

/** An agent whose calls belong to a trace that its own software began. */
async function caller(grant: Record<string, unknown> = {}, flags = '01'): Promise<Caused> {
  const [traceId, parent] = [randomBytes(16).toString('hex'), randomBytes(8).toString('hex')];
  const agent = await anAgent(server).granted('traced.order', grant).create();
  const client = agent.client.with({ traceparent: `00-${traceId}-${parent}-${flags}` });
  return { traceId, parent, agent, call: (input = {}, capability = 'traced.order') => client.post(EXECUTE, { capability, input }) };
}

async function traceOnRecord({ id: agentId }: BuiltAgent): Promise<string> {
  const reply = await asRoot(server).get('/api/v1/audit', { query: { event: 'execution.started', agentId } });
  const [entry] = reply.expect(200).list('entries') as { origin: { traceId: string } }[];
  return entry!.origin.traceId;
}

/** The one span of this name. */
function of(spans: readonly ReceivedSpan[], name: string): ReceivedSpan {
  const [span, ...others] = spans.filter((one) => one.name === name);
  if (span === undefined || others.length > 0) throw new Error(`${others.length + 1} spans are called ${name}`);
  return span;
}

describe('a call is one trace', () => {
  test('from the caller over decision and commit to the receiver of the connector, by the conventions for tools', async () => {
    const { traceId, parent, agent, call } = await caller();
    const reply = (await call({ note: 'for Ada Lovelace' })).expect(200);
    const spans = await traces.trace(traceId, RAN);
    const [request, tool, decide, commit, runtime, close] = RAN.map((name) => of(spans, name));
    expect(request).toMatchObject({
      parentSpanId: parent, kind: SERVER, isError: false,
      facts: { 'http.request.method': 'POST', 'http.route': EXECUTE, 'http.response.status_code': 200 },
    });
    expect(tool).toMatchObject({ parentSpanId: request!.spanId, kind: INTERNAL, isError: false });
    expect(tool!.facts).toEqual({
      'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 'traced.order', 'gen_ai.tool.type': 'function',
      'gen_ai.agent.id': agent.id, 'gen_ai.tool.call.id': reply.text('executionId'),
      'countersign.status': 'executed', 'countersign.mode': 'auto',
    });
    for (const span of [decide, commit, runtime, close]) expect(span!.parentSpanId).toBe(tool!.spanId);
    expect(commit!.facts).toEqual({ 'countersign.batch.size': 1, 'countersign.decision': 'started' });
    expect(runtime).toMatchObject({
      kind: CLIENT, facts: { 'countersign.outcome': 'executed', 'gen_ai.tool.call.id': reply.text('executionId') },
    });
    expect(shop.requests.at(-1)!.headers['traceparent']).toBe(`00-${traceId}-${runtime!.spanId}-01`);
    const inOrder = [request!.from, tool!.from, decide!.from, decide!.to, commit!.to, runtime!.to, close!.to, tool!.to];
    // A span begins at a whole millisecond of the clock, and ends by a finer one.
    expect(inOrder.filter((at, i) => i > 0 && at < inOrder[i - 1]! - 1_000_000n)).toEqual([]);
    expect(await traceOnRecord(agent)).toBe(traceId);
  });

  test('which ends where the gate blocks; that is no error', async () => {
    const { traceId, call } = await caller({ hitlMode: 'block' });
    (await call()).expect(200);
    const spans = await traces.trace(traceId, DECIDED);
    expect(of(spans, TOOL)).toMatchObject({ isError: false, facts: { 'countersign.status': 'blocked', 'countersign.mode': 'block' } });
    expect(of(spans, 'gate.commit').facts['countersign.decision']).toBe('blocked');
  });

  test('also when people are asked first: the run belongs to the call that asked', async () => {
    const { traceId, call } = await caller({ hitlMode: 'propose' });
    const asked = (await call()).expect(202);
    const id = asked.text('hitlRequestId');
    const before = await traces.trace(traceId, DECIDED);
    expect(of(before, TOOL).facts).toMatchObject({ 'countersign.status': 'pending_hitl', 'countersign.hitl_request.id': id });
    (await asRoot(server).post(`/api/v1/hitl/${id}/approve`)).expect(200);
    await executionBecomes(server, asked.text('executionId'), 'executed');
    const spans = await traces.trace(traceId, RAN);
    const runtime = of(spans, 'runtime connector');
    expect(runtime).toMatchObject({ parentSpanId: of(spans, TOOL).spanId, facts: { 'countersign.hitl_request.id': id } });
    expect(shop.requests.at(-1)!.headers['traceparent']).toBe(`00-${traceId}-${runtime.spanId}-01`);
  });

  test('with codes where it fails or is refused', async () => {
    shop.script({ status: 500 });
    const [failing, refused] = await Promise.all([caller(), caller()]);
    (await failing.call()).expect(200);
    (await refused.call({}, 'mail to ada@example.com')).expect(403);
    const failed = await traces.trace(failing.traceId, RAN);
    for (const name of [TOOL, 'runtime connector']) {
      expect(of(failed, name)).toMatchObject({ isError: true, facts: { 'error.type': 'CONNECTOR_STATUS' } });
    }
    const spans = await traces.trace(refused.traceId, [ROUTE, 'execute_tool unknown', 'gate.decide']);
    expect(of(spans, 'execute_tool unknown')).toMatchObject({ isError: true, facts: { 'error.type': 'CAPABILITY_NOT_GRANTED' } });
    expect(of(spans, ROUTE)).toMatchObject({ isError: false, facts: { 'http.response.status_code': 403 } });
  });

  test('as often as there are calls: those that are committed together share no span', async () => {
    const callers = await Promise.all(Array.from({ length: 6 }, () => caller()));
    await Promise.all(callers.map(({ call }) => call()));
    const commits = await Promise.all(callers.map(async ({ traceId }) => of(await traces.trace(traceId, RAN), 'gate.commit')));
    expect(new Set(commits.map(({ spanId }) => spanId)).size).toBe(6);
  });
});

test('whoever began the trace says whether it is kept', async () => {
  const [dropped, kept] = [await caller({}, '00'), await caller()];
  (await dropped.call()).expect(200);
  expect(shop.requests.at(-1)!.headers['traceparent']).toMatch(new RegExp(`^00-${dropped.traceId}-[0-9a-f]{16}-00$`));
  (await kept.call()).expect(200);
  await traces.trace(kept.traceId, RAN);
  expect(traces.text()).not.toContain(dropped.traceId);
});

test('a call that nobody traces begins a trace, which its entry names', async () => {
  const { agent } = await caller();
  (await agent.client.post(EXECUTE, { capability: 'traced.order' })).expect(200);
  expect(of(await traces.trace(await traceOnRecord(agent), RAN), ROUTE).parentSpanId).toBeUndefined();
});

test('what is sent names the service, carries the headers, and says nothing that people wrote', async () => {
  const { traceId, call } = await caller();
  (await call({ note: 'for Ada Lovelace' })).expect(200);
  await traces.trace(traceId, RAN);
  expect(traces.requests[0]).toMatchObject({
    path: '/v1/traces', headers: { authorization: 'Bearer of-the-receiver', 'x-team': 'a', 'content-type': 'application/json' },
  });
  expect(traces.resources()[0]).toEqual({ 'service.name': 'gate of tests', 'service.version': expect.any(String) });
  expect(traces.text()).not.toMatch(/Lovelace|ada@example|svc_|eyJ/);
});

test('a receiver that is away or hangs keeps no call waiting, is told once, and once again when it answers', async () => {
  const away = await startTraceReceiver();
  away.standing({ reset: true });
  const alone = await startServer({ env: { OTEL_EXPORTER_OTLP_ENDPOINT: away.url, LOG_LEVEL: 'info' } });
  const told = (line: string) => alone.output().split(line).length - 1;
  try {
    const agent = await anAgent(alone).granted('web.search').create();
    const callUntil = (reached: () => void) => eventually(async () => {
      (await agent.client.post(EXECUTE, { capability: 'web.search' })).expect(200);
      reached();
    }, { within: 20_000 });
    await callUntil(() => expect(told('traces cannot be sent')).toBe(1));
    const failed = away.requests.length;
    away.standing({ hang: 'before headers' });
    await callUntil(() => expect(away.requests.length).toBeGreaterThan(failed));
    away.standing({ body: {} });
    await callUntil(() => expect(told('traces are sent again')).toBe(1));
    expect(told('traces cannot be sent')).toBe(1);
  } finally {
    await alone.stop();
    await away.close();
  }
});
