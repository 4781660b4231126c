import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { anAgent } from '../support/builders/agents.js';
import { defineCapability } from '../support/builders/gate.js';
import { startReceiver } from '../support/http/receiver.js';
import { countersign } from '../support/servers/command-line.js';
import { startServer, type TestServer } from '../support/servers/server.js';
import { onTerminal } from '../support/servers/terminal.js';
import { ROOT_KEY } from '../support/servers/test-run.js';

// What waits for an answer or a person, by the commands.

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server?.stop());

const env = (key = ROOT_KEY) => ({ COUNTERSIGN_URL: server.url, COUNTERSIGN_KEY: key });

test('execute: what takes its time is said, and what it waits for', async () => {
  const receiver = await startReceiver();
  const capability = 'shop.slow-order';
  await defineCapability(server, capability, { connector: { type: 'http', method: 'POST', url: receiver.url } });
  const { token } = await anAgent(server).granted(capability).granted('email.send', { hitlMode: 'propose' }).create();
  receiver.script({ delayMs: 4_000, body: {} });
  const slow = await countersign(['execute', capability, '--json'], env(token));
  await receiver.close();
  expect([slow.code, slow.stderr]).toEqual([0, expect.stringMatching(/no answer yet, and none is waited for longer than 150 s\n$/)]);
  const asked = await countersign(['execute', 'email.send'], env(token));
  expect([asked.code, asked.stderr]).toEqual([1, expect.stringMatching(/a person is asked: hitl_\S+\n$/)]);
  expect(asked.stdout).toMatch(/waits for a person +(hitl_\S+)\n +countersign hitl show \1 /);
  const waited = await countersign(['execute', 'email.send', '--wait', '1'], env(token));
  expect(waited.stderr).toMatch(/a person is asked: hitl_\S+; waiting 1 s for the decision\. To end the wait/);
  const { output } = await onTerminal(['execute', 'email.send', '--wait', '3'], env(token), []);
  expect(output).toMatch(/waiting for a person \(hitl_\S+\): [12] s/);
});

test('hitl list: as many as are wanted, page by page, and how to see the others', async () => {
  // More than the service gives at once.
  const [agents, each] = [6, 90];
  const capability = 'mail.many';
  await defineCapability(server, capability);
  await Promise.all(Array.from({ length: agents }, async () => {
    const { client } = await anAgent(server).granted(capability, { hitlMode: 'propose' }).create();
    for (let n = 0; n < each; n++) (await client.post('/api/v1/execute', { capability, input: { many: n } })).expect(202);
  }));
  const listed = (...words: string[]) => countersign(['hitl', 'list', '--capability', capability, ...words], env());
  const idsIn = (text: string) => new Set(text.match(/hitl_\w+/g)).size;
  const some = await listed();
  expect([some.code, idsIn(some.stdout), some.stdout]).toEqual(
    [0, 100, expect.stringMatching(/440 more: countersign hitl list --limit 540 shows them\n$/)]);
  const { requests, total } = JSON.parse((await listed('--limit', '540', '--json')).stdout) as { requests: unknown[]; total: number };
  expect([new Set(requests.map((one) => JSON.stringify(one))).size, total]).toEqual([540, 540]);
  const none = await listed('--limit', '0');
  expect([none.code, none.stderr]).toEqual([2, expect.stringContaining('whole number from 1')]);
});
