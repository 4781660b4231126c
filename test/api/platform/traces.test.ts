import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { RAN, spanOf, tracedScenario, type TracedScenario } from '../../support/builders/traced-scenario.js';
import { EXECUTE } from '../../support/http/paths.js';

const [INTERNAL, SERVER, CLIENT] = [1, 2, 3];

let scenario: TracedScenario;

beforeAll(async () => {
  scenario = await tracedScenario();
});
afterAll(() => scenario?.close());

test('a call is one trace, from the caller over the decision to the connector\'s receiver, by the conventions for tools', async () => {
  const { traceId, parent, agent, call } = await scenario.caller();
  const reply = (await call({ note: 'for Ada Lovelace' })).expect(200);
  const spans = await scenario.traces.trace(traceId, RAN);
  const [request, tool, decide, commit, runtime, close] = RAN.map((name) => spanOf(spans, name));
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
  expect(scenario.shop.requests.at(-1)!.headers['traceparent']).toBe(`00-${traceId}-${runtime!.spanId}-01`);
  const inOrder = [request!.from, tool!.from, decide!.from, decide!.to, commit!.to, runtime!.to, close!.to, tool!.to];
  // A span begins at a whole millisecond of the clock, and ends by a finer one.
  expect(inOrder.filter((at, i) => i > 0 && at < inOrder[i - 1]! - 1_000_000n)).toEqual([]);
  expect(await scenario.traceOnRecord(agent)).toBe(traceId);
});

test('what is sent names the service, carries the headers, and says nothing that people wrote', async () => {
  const { traceId, call } = await scenario.caller();
  (await call({ note: 'for Ada Lovelace' })).expect(200);
  await scenario.traces.trace(traceId, RAN);
  expect(scenario.traces.requests[0]).toMatchObject({
    path: '/v1/traces', headers: { authorization: 'Bearer of-the-receiver', 'x-team': 'a', 'content-type': 'application/json' },
  });
  expect(scenario.traces.resources()[0]).toEqual({ 'service.name': 'gate of tests', 'service.version': expect.any(String) });
  expect(scenario.traces.text()).not.toMatch(/Lovelace|ada@example|svc_|eyJ/);
});
