import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { CountersignError } from '@countersign/sdk';
import { type NodeOptions, runNode } from '@countersign/sdk/node';
import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { anAgentKey } from '../support/builders/agents.js';
import { type Receiver, startReceiver } from '../support/http/receiver.js';
import { aNodesAgent } from '../support/node/work.js';
import { eventually } from '../support/running/eventually.js';
import { rejection } from '../support/sdk/callers.js';
import { startGateway } from '../support/sdk/gateway.js';
import { startServer, type TestServer } from '../support/servers/server.js';
import { ROOT_KEY, runFolder } from '../support/servers/test-run.js';

let server: TestServer;
let receiver: Receiver;
let folder: string;
beforeAll(async () => {
  [server, receiver] = await Promise.all([startServer(), startReceiver()]);
  folder = mkdtempSync(join(runFolder(), 'node-'));
});
afterAll(async () => {
  await server.stop();
  await receiver.close();
});

const circle: Record<string, unknown> = {};
circle['self'] = circle;
/** What handlers returned, and where it is no JSON. */
const UNUSABLE: readonly (readonly [unknown, string])[] = [
  [NaN, '/output: NaN'], [{ sum: 1n }, '/output/sum: bigint'], [circle, '/output/self: holds itself'],
  [{ at: { seen: undefined } }, '/output/at/seen: undefined'], [new Date(0), '/output: must be a plain object'],
  [() => 1, '/output: function'],  [{ 't\udc00': 1 }, '/output/t'],
];

test('a result that is no JSON is told as failed with its place, to the caller and to the operator; none is lost', async () => {
  const agent = await aNodesAgent(server);
  const key = await anAgentKey(server, agent);
  const journal = join(folder, 'unusable.jsonl');
  const [told, ending]: [CountersignError[], AbortController] = [[], new AbortController()];
  const lines: string[] = [];
  const running = runNode({
    url: server.url, credential: key.secret, journal, signal: ending.signal,
    handlers: { [agent.capability]: ({ n }) => (n === -1 ? undefined : UNUSABLE[n as number]![0]) },
    onResultRefused: (error) => {
      told.push(error);
      // What the caller's own function throws about one loses none.
      if (told.length === UNUSABLE.length) throw new Error('no pager');
    },
    onLog: (line) => lines.push(line),
  });
  const ended = rejection(running);
  await eventually(() => expect(lines.join()).toMatch(/ready at/));
  const outcomeOf = async (n: number) => 
    (await agent.client.post('/api/v1/execute', { capability: agent.capability, input: { n } })).expect(200);
  expect((await outcomeOf(-1)).body).toMatchObject({ status: 'executed' });
  for (const [n, [, place]] of UNUSABLE.entries()) {
    const { body } = await outcomeOf(n);
    const message = expect.stringContaining(`said "executed", and its result was refused: VALIDATION_FAILED: ${place}`);
    expect(body).toMatchObject({ status: 'failed', error: { code: 'RESULT_REFUSED', message } });
    expect(told.at(-1)).toMatchObject({ code: 'VALIDATION_FAILED', executionId: (body as { executionId: string }).executionId });
  }
  expect(readFileSync(journal, 'utf8').match(/RESULT_REFUSED/g)).toHaveLength(UNUSABLE.length);
  expect(await ended).toMatchObject({ code: 'CALLBACK_FAILED', detail: 'onResultRefused: no pager' });
});

test('a start that is refused for its rate is asked for again: the work is done', async () => {
  const gateway = await startGateway(() => [server.url]);
  const agent = await aNodesAgent(server);
  const key = await anAgentKey(server, agent);
  const ending = new AbortController();
  const lines: string[] = [];
  let refused = 0;
  const body = JSON.stringify({ type: 'about:blank', status: 429, title: 'Too many', code: 'RATE_LIMITED', detail: 'Too many calls.' });
  const headers = { 'content-type': 'application/problem+json', 'retry-after': '1' };
  gateway.fault(({ path }) => (/\/start$/.test(path) && refused++ === 0 ? { status: 429, headers, body } : undefined));
  const running = runNode({
    url: gateway.url, credential: key.secret, journal: join(folder, 'limited.jsonl'), signal: ending.signal,
    handlers: { [agent.capability]: () => ({ done: true }) }, onLog: (line) => lines.push(line),
  });
  await eventually(() => expect(lines.join()).toMatch(/ready at/));
  const { body: outcome } = (await agent.client.post('/api/v1/execute', { capability: agent.capability, input: {} })).expect(200);
  expect(outcome).not.toHaveProperty('error');
  expect(outcome).toMatchObject({ status: 'executed', output: { done: true } });
  expect(refused).toBe(2);
  ending.abort();
  await running;
  await gateway.close();
});

const given = { url: 'http://127.0.0.1:9', handlers: {}, credential: ROOT_KEY };
test.each<[string, object | undefined, RegExp]>([
  ['nothing', undefined, /options of runNode must be an object/],
  ['no credential', { ...given, credential: undefined, journal: 'j' }, /runNode needs credential: .*setup token/],
  ['no journal', given, /runNode needs journal/],
  ['no handlers', { ...given, handlers: undefined, journal: 'j' }, /runNode needs handlers/],
  ['another option', { ...given, journal: 'j', capabilities: [] }, /runNode has no option capabilities; there are url, credential,/],
])('a node with %s does not start, and makes no file', async (_, options, detail) => {
  const error = await rejection(runNode(options as NodeOptions));
  expect(error).toMatchObject({ code: 'INVALID_OPTIONS', detail: expect.stringMatching(detail) });
  expect(existsSync('undefined.token')).toBe(false);
});

test('an empty credential, where no token is kept, says what is needed', async () => {
  const journal = join(folder, 'none.jsonl');
  const detail = expect.stringMatching(/No token is kept in .*none\.jsonl\.token: runNode needs a setup token/);
  expect(await rejection(runNode({ ...given, credential: '', journal }))).toMatchObject({ code: 'INVALID_OPTIONS', detail });
});

test('another server where the service should be is trouble that is told, and no crash', async () => {
  const [lines, ending]: [string[], AbortController] = [[], new AbortController()];
  const onLog = (line: string) => lines.push(line);
  const running = runNode({ ...given, url: receiver.url, journal: join(folder, 'other.jsonl'), signal: ending.signal, onLog });
  await eventually(() => expect(lines.join()).toMatch(/trouble, again in a moment: BAD_RESPONSE: The heartbeat/));
  ending.abort();
  await running;
});
