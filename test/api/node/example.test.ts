import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { anAgentKey } from '../../support/builders/agents.js';
import { executionBecomes } from '../../support/builders/gate.js';
import { asRoot } from '../../support/http/actors.js';
import { aNodesAgent, heartbeat, leased, start } from '../../support/node/work.js';
import { eventually } from '../../support/running/eventually.js';
import { startServer, type TestServer } from '../../support/servers/server.js';
import { CHECKOUT } from '../../support/servers/test-run.js';

// examples/node.mjs, as it stands.

let server: TestServer;
let folder: string;
const nodes: ChildProcess[] = [];

beforeAll(async () => {
  server = await startServer();
  folder = mkdtempSync(join(tmpdir(), 'countersign-node-'));
});
afterEach(async () => {
  for (const node of nodes.splice(0)) node.kill('SIGKILL');
});
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** The longest body that the service takes. */
const BODY_BYTES = 256 * 1024;

let journals = 0;
const aJournal = () => join(folder, `journal-${++journals}.jsonl`);

function runNode(env: Readonly<Record<string, string>>): { said(): string } {
  const node = spawn(process.execPath, ['examples/node.mjs'], {
    cwd: CHECKOUT, env: { PATH: process.env['PATH'] ?? '', COUNTERSIGN_URL: server.url, ...env }, stdio: ['ignore', 'pipe', 'pipe'],
  });
  nodes.push(node);
  let said = '';
  for (const stream of [node.stdout!, node.stderr!]) stream.on('data', (part: Buffer) => (said += part.toString('utf8')));
  return { said: () => said };
}

test('activates by a setup token, does what it is given, and keeps a journal of it', async () => {
  const agent = await aNodesAgent(server);
  const token = (await asRoot(server).post(`/api/v1/agents/${agent.id}/setup-token`)).expect(201).text('setupToken');
  const journal = aJournal();
  const node = runNode({ COUNTERSIGN_SETUP_TOKEN: token, NODE_JOURNAL: journal, NODE_ID: 'press-hall-2' });
  await eventually(() => expect(node.said()).toMatch(/ready at/));
  await eventually(async () =>
    expect((await asRoot(server).get(`/api/v1/agents/${agent.id}`)).at('agent')).toMatchObject({ nodeVersion: 'example-1' }));
  const reply = (await agent.client.post('/api/v1/execute', { capability: agent.capability, input: { pages: 3 } })).expect(200);
  expect(reply.body).toMatchObject({ status: 'executed', output: { echo: { pages: 3 } } });
  await eventually(() => expect(readFileSync(journal, 'utf8')).toMatch(/"state":"over"/));
});

test('started again it goes on by the token that it keeps for its owner alone, and takes up what was granted since', async () => {
  const agent = await aNodesAgent(server);
  const { capability } = await aNodesAgent(server);
  const setupToken = (await asRoot(server).post(`/api/v1/agents/${agent.id}/setup-token`)).expect(201).text('setupToken');
  const journal = aJournal();
  const kept = () => readFileSync(`${journal}.token`, 'utf8');
  const runs = async (env: Readonly<Record<string, string>>) => {
    const node = runNode({ NODE_JOURNAL: journal, ...env });
    await eventually(() => expect(node.said()).toMatch(/ready at/));
    return node;
  };
  const first = await runs({ COUNTERSIGN_SETUP_TOKEN: setupToken });
  expect(statSync(`${journal}.token`).mode & 0o777).toBe(0o600);
  expect(kept()).not.toContain(setupToken);
  const before = kept();
  (await asRoot(server).post(`/api/v1/agents/${agent.id}/capabilities`, { capability, hitlMode: 'auto' })).expect(201);
  const token = (await asRoot(server).post(`/api/v1/agents/${agent.id}/token`)).expect(200).text('token');
  const caller = asRoot(server).with({ authorization: `Bearer ${token}` });
  const serves = async (name: string) =>
    expect((await caller.post('/api/v1/execute', { capability: name, input: {} })).expect(200).at('status')).toBe('executed');
  await serves(capability);
  expect(first.said()).toContain(`capabilities: +${capability}`);
  const renewed = kept();
  expect(renewed).not.toBe(before);
  const starts: Record<string, string>[] = [{ COUNTERSIGN_SETUP_TOKEN: setupToken }, {}];
  for (const env of starts) {
    nodes.pop()!.kill('SIGKILL');
    await runs(env);
    await serves(agent.capability);
    await serves(capability);
  }
  expect(kept()).toBe(renewed);
});

test('killed and started again it says what it knows: a result that nobody took, and that of the rest nobody knows', async () => {
  const agent = await aNodesAgent(server);
  const key = await anAgentKey(server, agent);
  (await heartbeat(key.client)).expect(200);
  const begun = [];
  for (let n = 0; n < 2; n++) {
    agent.client.post('/api/v1/execute', { capability: agent.capability, input: { n } }).catch(() => undefined);
    const work = await leased(key.client);
    (await start(key.client, work)).expect(200);
    begun.push(work);
  }
  const [done, lost] = begun as [{ id: string; fence: number }, { id: string; fence: number }];
  const journal = aJournal();
  const lines = [
    { id: done.id, fence: done.fence, state: 'starting' },
    { id: done.id, fence: done.fence, state: 'done', result: { status: 'executed', output: 'kept' } },
    { id: lost.id, fence: lost.fence, state: 'starting' },
  ];
  writeFileSync(journal, `${lines.map((line) => JSON.stringify(line)).join('\n')}\n{"id":"exec_`);
  const node = runNode({ COUNTERSIGN_AGENT_KEY: key.secret, NODE_JOURNAL: journal });
  expect(await executionBecomes(server, done.id, 'executed')).toMatchObject({ output: 'kept' });
  expect(await executionBecomes(server, lost.id, 'indeterminate')).toMatchObject({ error: { code: 'NODE_ERROR' } });
  await eventually(() => expect(node.said()).toMatch(/ready at/));
  expect(existsSync(journal) && readFileSync(journal, 'utf8')).not.toContain(lost.id);
});

test('what it cannot say it says it cannot, and goes on: a result that is too long for the service', async () => {
  const agent = await aNodesAgent(server);
  const key = await anAgentKey(server, agent);
  const [journal, long] = [aJournal(), 'x'.repeat(BODY_BYTES)];
  // As a node left it that was stopped by such a result.
  (await heartbeat(key.client)).expect(200);
  const former = agent.client.post('/api/v1/execute', { capability: agent.capability });
  const { id, fence } = await leased(key.client);
  (await start(key.client, { id, fence })).expect(200);
  writeFileSync(journal, `${JSON.stringify({ id, fence, state: 'done', result: { status: 'executed', output: long } })}\n`);
  const node = runNode({ COUNTERSIGN_AGENT_KEY: key.secret, NODE_JOURNAL: journal });
  const message = expect.stringMatching(/said "executed".*refused.*BODY_TOO_LARGE/);
  const refused = { status: 'failed', error: { code: 'RESULT_REFUSED', message } };
  expect((await former).expect(200).body).toMatchObject(refused);
  await eventually(() => expect(node.said()).toMatch(/ready at/));
  // The longest call there is: the node's echo of it is longer.
  const call = { capability: agent.capability, input: { long: '' } };
  call.input.long = 'x'.repeat(BODY_BYTES - JSON.stringify(call).length);
  expect((await agent.client.post('/api/v1/execute', call)).expect(200).body).toMatchObject(refused);
  const reply = (await agent.client.post('/api/v1/execute', { capability: agent.capability, input: { pages: 3 } })).expect(200);
  expect(reply.at('status')).toBe('executed');
  expect(node.said()).toMatch(/CountersignError: BODY_TOO_LARGE/);
});
