import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { anAgentKey } from '../support/builders/agents.js';
import { executionOf } from '../support/builders/gate.js';
import { eventually } from '../support/running/eventually.js';
import { approve, sdkAsAgent, sdkAsRoot } from '../support/sdk/callers.js';
import { type Program, runProgram } from '../support/sdk/programs.js';
import { startServer, type TestServer } from '../support/servers/server.js';
import { CHECKOUT, ROOT_KEY } from '../support/servers/test-run.js';

// The programs of examples/, as they stand; the node's is in test/api/node.

let server: TestServer;
let folder: string;
let programs: Program[] = [];
beforeAll(async () => {
  server = await startServer();
  folder = mkdtempSync(join(tmpdir(), 'countersign-examples-'));
});
afterEach(() => {
  for (const program of programs) program.kill();
  programs = [];
});
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

function run(name: string, env: Readonly<Record<string, string>>, ...args: string[]): Program {
  const program = runProgram(`examples/${name}.mjs`, { args, env: { COUNTERSIGN_URL: server.url, ...env } });
  programs.push(program);
  return program;
}

test('each is one command', () => {
  const { scripts } = JSON.parse(readFileSync(join(CHECKOUT, 'package.json'), 'utf8')) as { scripts: Record<string, string> };
  const commands = Object.entries(scripts).filter(([name]) => name.startsWith('example:'));
  const names = readdirSync(join(CHECKOUT, 'examples')).map((file) => file.replace(/\.mjs$/, ''));
  expect(Object.fromEntries(commands)).toEqual(Object.fromEntries(names.map((name) => [`example:${name}`, `node examples/${name}.mjs`])));
});

test('the quick start ends with an execution that was approved', async () => {
  const program = run('quick-start', { COUNTERSIGN_KEY: ROOT_KEY });
  expect(await program.ended).toBe(0);
  expect(program.said()).toMatch(/^executed audit_\w+\n$/);
});

test('the executor does what a person made of it, once, and reports', async () => {
  const { agent } = await sdkAsAgent(server, { 'email.send': { hitlMode: 'propose' } });
  const { secret } = await anAgentKey(server, agent);
  const sent = join(folder, 'sent.jsonl');
  const program = run('executor', { COUNTERSIGN_AGENT_KEY: secret, SENT_FILE: sent }, '{"to": "anna", "copies": 20}');
  const asked = () => /hitl_\w+/.exec(program.said())?.[0];
  await eventually(() => expect(asked()).toBeDefined());
  await approve(server, asked()!, { editedInput: { to: 'bert', copies: 2 } });
  expect(await program.ended).toBe(0);
  expect(program.said()).toMatch(/done \{"sentTo":"bert"\}/);
  const { executionId, ...mail } = JSON.parse(readFileSync(sent, 'utf8')) as { executionId: string };
  expect(mail).toEqual({ to: 'bert', copies: 2 });
  const report = { outcome: 'success', output: { sentTo: 'bert' } };
  expect(await executionOf(server, executionId)).toMatchObject({ status: 'executed', report });
});

test('the executor says why it did not', async () => {
  const { agent } = await sdkAsAgent(server, {});
  const { secret } = await anAgentKey(server, agent);
  const program = run('executor', { COUNTERSIGN_AGENT_KEY: secret, SENT_FILE: join(folder, 'nothing.jsonl') });
  expect(await program.ended).toBe(1);
  expect(program.said()).toMatch(/^not done: CAPABILITY_NOT_GRANTED: /);
});

test('the receiver takes what the service signed, once', async () => {
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
  const program = run('webhook-receiver', { COUNTERSIGN_WEBHOOK_SECRET: secret, PORT: '0' });
  const address = () => /listening at (http:\S+)/.exec(program.said())?.[1];
  await eventually(() => expect(address()).toBeDefined());
  await sdkAsRoot(server).notifications.setChannel('webhook', { enabled: true, settings: { url: address()!, secret } });
  const { sdk } = await sdkAsAgent(server, { 'email.send': { hitlMode: 'propose' } });
  await sdk.execute('email.send', { to: 'anna' });
  await eventually(() => expect(program.said()).toMatch(/^hitl\.request\.created \{/m));

  const [id, now, body] = ['dlv_again', new Date(), JSON.stringify({ event: 'trial', n: 1 })];
  const headers = {
    'webhook-id': id, 'webhook-timestamp': String(Math.floor(now.getTime() / 1_000)),
    'webhook-signature': new Webhook(secret).sign(id, now, body),
  };
  const post = async (text: string) => (await fetch(address()!, { method: 'POST', headers, body: text })).status;
  const statuses = [await post(body), await post(body), await post(`${body} `), await post('x'.repeat(2 * 1024 * 1024))];
  expect(statuses).toEqual([204, 204, 401, 413]);
  expect(program.said().match(/^trial /gm)).toHaveLength(1);
});
