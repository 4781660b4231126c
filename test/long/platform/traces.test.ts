import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { anAgent } from '../../support/builders/agents.js';
import { executionBecomes } from '../../support/builders/gate.js';
import { DECIDED, RAN, ROUTE, spanOf, TOOL, tracedScenario, type TracedScenario } from '../../support/builders/traced-scenario.js';
import { asRoot } from '../../support/http/actors.js';
import { EXECUTE } from '../../support/http/paths.js';
import { startTraceReceiver } from '../../support/http/trace-receiver.js';
import { eventually } from '../../support/running/eventually.js';
import { startServer } from '../../support/servers/server.js';

let scenario: TracedScenario;

beforeAll(async () => {
  scenario = await tracedScenario();
});
afterAll(() => scenario?.close());

describe('a call is one trace', () => {
  test('which ends where the gate blocks; that is no error', async () => {
    const { traceId, call } = await scenario.caller({ hitlMode: 'block' });
    (await call()).expect(200);
    const spans = await scenario.traces.trace(traceId, DECIDED);
    expect(spanOf(spans, TOOL)).toMatchObject({ isError: false, facts: { 'countersign.status': 'blocked', 'countersign.mode': 'block' } });
    expect(spanOf(spans, 'gate.commit').facts['countersign.decision']).toBe('blocked');
  });

  test('also when people are asked first: the run belongs to the call that asked', async () => {
    const { traceId, call } = await scenario.caller({ hitlMode: 'propose' });
    const asked = (await call()).expect(202);
    const id = asked.text('hitlRequestId');
    const before = await scenario.traces.trace(traceId, DECIDED);
    expect(spanOf(before, TOOL).facts).toMatchObject({ 'countersign.status': 'pending_hitl', 'countersign.hitl_request.id': id });
    (await asRoot(scenario.server).post(`/api/v1/hitl/${id}/approve`)).expect(200);
    await executionBecomes(scenario.server, asked.text('executionId'), 'executed');
    const spans = await scenario.traces.trace(traceId, RAN);
    const runtime = spanOf(spans, 'runtime connector');
    expect(runtime).toMatchObject({ parentSpanId: spanOf(spans, TOOL).spanId, facts: { 'countersign.hitl_request.id': id } });
    expect(scenario.shop.requests.at(-1)!.headers['traceparent']).toBe(`00-${traceId}-${runtime.spanId}-01`);
  });

  test('with codes where it fails or is refused', async () => {
    scenario.shop.script({ status: 500 });
    const [failing, refused] = await Promise.all([scenario.caller(), scenario.caller()]);
    (await failing.call()).expect(200);
    (await refused.call({}, 'mail to ada@example.com')).expect(403);
    const failed = await scenario.traces.trace(failing.traceId, RAN);
    for (const name of [TOOL, 'runtime connector']) {
      expect(spanOf(failed, name)).toMatchObject({ isError: true, facts: { 'error.type': 'CONNECTOR_STATUS' } });
    }
    const spans = await scenario.traces.trace(refused.traceId, [ROUTE, 'execute_tool unknown', 'gate.decide']);
    expect(spanOf(spans, 'execute_tool unknown')).toMatchObject({ isError: true, facts: { 'error.type': 'CAPABILITY_NOT_GRANTED' } });
    expect(spanOf(spans, ROUTE)).toMatchObject({ isError: false, facts: { 'http.response.status_code': 403 } });
    expect(scenario.traces.text()).not.toContain('ada@example');
  });

  test('as often as there are calls: those that are committed together share no span', async () => {
    const callers = await Promise.all(Array.from({ length: 6 }, () => scenario.caller()));
    await Promise.all(callers.map(({ call }) => call()));
    const commits = await Promise.all(callers.map(async ({ traceId }) => spanOf(await scenario.traces.trace(traceId, RAN), 'gate.commit')));
    expect(new Set(commits.map(({ spanId }) => spanId)).size).toBe(6);
  });
});

test('whoever began the trace says whether it is kept', async () => {
  const [dropped, kept] = [await scenario.caller({}, '00'), await scenario.caller()];
  (await dropped.call()).expect(200);
  expect(scenario.shop.requests.at(-1)!.headers['traceparent']).toMatch(new RegExp(`^00-${dropped.traceId}-[0-9a-f]{16}-00$`));
  (await kept.call()).expect(200);
  await scenario.traces.trace(kept.traceId, RAN);
  expect(scenario.traces.text()).not.toContain(dropped.traceId);
});

test('a call that nobody traces begins a trace, which its entry names', async () => {
  const { agent } = await scenario.caller();
  (await agent.client.post(EXECUTE, { capability: 'traced.order' })).expect(200);
  expect(spanOf(await scenario.traces.trace(await scenario.traceOnRecord(agent), RAN), ROUTE).parentSpanId).toBeUndefined();
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
