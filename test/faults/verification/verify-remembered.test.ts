import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkpointText, originOf, PLATFORM_TREE } from '../../../src/domain/audit/notes/checkpoint.js';
import { signingKey, signNote } from '../../../src/domain/audit/notes/note.js';
import { hashText, leafHash } from '../../../src/domain/audit/tree/rfc6962.js';
import { anAgent, type BuiltAgent } from '../../support/builders/agents.js';
import { countersign, type CommandResult } from '../../support/servers/command-line.js';
import { allSigned, download, verifyFile, type Verified } from '../../support/log/exports.js';
import { anOrganization, aPerson, type BuiltPerson } from '../../support/builders/people.js';
import { startServer, type TestServer } from '../../support/servers/server.js';
import { ROOT_KEY, TEST_ENVIRONMENT } from '../../support/servers/test-run.js';

const EXPORT = '/api/v1/audit/export';

let server: TestServer;
let folder: string;
let instance: string;
let organizationId: string;
let agent: BuiltAgent;
let person: BuiltPerson;
/** What was remembered of the log when it was young. */
let young: string;
let platformSize: number;

beforeAll(async () => {
  server = await startServer({ env: { AUDIT_CHECKPOINT_SECONDS: '1' } });
  folder = mkdtempSync(join(tmpdir(), 'verify-remembered-'));
  organizationId = await anOrganization(server);
  agent = await anAgent(server).inOrganization(organizationId).granted('web.search').create();
  person = await aPerson(server, 'admin', { organizationId });
  (await person.client.get(EXPORT)).expect(200);
  await allSigned(server);
  [{ name: instance }] = await server.sql<{ name: string }>('select name from instance') as [{ name: string }];
  const memory = remembered();
  expect((await verify(['--url', server.url, '--key', ROOT_KEY], memory)).code).toBe(0);
  young = readFileSync(memory, 'utf8');
  platformSize = sizeIn(young, PLATFORM_TREE);
  // So many that no full subtree of the tree ends where the young one did.
  while ((await leaves()) <= 2 * sizeIn(young, organizationId)) {
    (await agent.client.post('/api/v1/execute', { capability: 'web.search', input: {} })).expect(200);
  }
  await allSigned(server);
});

afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await server?.stop();
});

async function leaves(): Promise<number> {
  const [row] = await server.sql<{ count: number }>(
    'select count(*)::integer as count from audit_entries where organization_id = $1', [organizationId]);
  return row!.count;
}

let made = 0;
/** A file of what is remembered. */
function remembered(text?: string): string {
  const file = join(folder, `remembered-${++made}.json`);
  if (text !== undefined) writeFileSync(file, text);
  return file;
}

const noteIn = (text: string, tree: string) => (JSON.parse(text) as Record<string, string>)[originOf(instance, tree)];
const sizeIn = (text: string, tree: string) => Number(noteIn(text, tree)!.split('\n')[1]);

/** Another history of the platform's tree, signed by the server's own key. */
function rewritten(size: number): string {
  const origin = originOf(instance, PLATFORM_TREE);
  const text = checkpointText({ origin, size, root: hashText(leafHash('another history')) });
  return JSON.stringify({ [origin]: signNote(text, [signingKey(instance, TEST_ENVIRONMENT['AUDIT_SIGNING_KEY']!)]) });
}

function verify(words: readonly string[], memory: string): Promise<CommandResult> {
  const env = { DATA_DIR: join(folder, 'none'), AUDIT_ANCHORS: server.database.anchors };
  return countersign(['audit', 'verify', '--remember', memory, ...words], env);
}

async function fileOf(path: string, query: Record<string, string | number> = {}): Promise<string> {
  await allSigned(server);
  const { status, bytes } = await download(server, ROOT_KEY, path, query);
  expect(status).toBe(200);
  const file = join(folder, `file-${++made}.jsonl`);
  writeFileSync(file, bytes);
  return file;
}

/** By the command, and by the stand-alone verifier, each with a memory of its own. */
async function both(file: string, text: string): Promise<{ reported: CommandResult; alone: Verified; kept: [string, string] }> {
  const [one, other] = [remembered(text), remembered(text)];
  const [reported, alone] = [await verify(['--file', file], one), await verifyFile(file, [], ['--remember', other])];
  return { reported, alone, kept: [readFileSync(one, 'utf8'), readFileSync(other, 'utf8')] };
}

describe("the platform's tree", () => {
  const url = () => ['--url', server.url, '--key', ROOT_KEY];

  test("is proven by a server's export to go on from what is remembered, for which the command asks", async () => {
    const memory = remembered(young);
    const { code, stdout } = await verify([...url(), '--json'], memory);
    expect(code).toBe(0);
    const found = (JSON.parse(stdout) as { remembered: { origin: string; state: string }[] }).remembered;
    expect(new Set(found.map(({ state }) => state))).toEqual(new Set(['continued']));
    expect(found.map(({ origin }) => origin)).toContain(`${instance}/${PLATFORM_TREE}`);
    expect(sizeIn(readFileSync(memory, 'utf8'), PLATFORM_TREE)).toBeGreaterThan(platformSize);
  });

  test('of another history is found by a server, and remains remembered, so that a database shows it, too', async () => {
    const memory = remembered(rewritten(platformSize));
    const { code, stdout } = await verify(url(), memory);
    expect([code, stdout]).toEqual([1, expect.stringContaining('the tree of platform does not go on from the remembered one')]);
    const found = await verify(['--database-url', server.database.url], memory);
    expect([found.code, found.stdout]).toEqual([1, expect.stringContaining('the history was rewritten')]);
  });

  test('that was larger is found, too', async () => {
    const { code, stdout } = await verify(url(), remembered(rewritten(1_000_000)));
    expect([code, stdout]).toEqual([1, expect.stringContaining('or the file is older')]);
  });

  test('is not compared with a file that nobody asked to prove it: that is said, and the memory stays as it is', async () => {
    const text = rewritten(platformSize);
    const { reported, alone, kept } = await both(await fileOf(EXPORT), text);
    const ask = `platform_since=${platformSize}`;
    expect(reported.code).toBe(0);
    expect(reported.stdout).toMatch(new RegExp(`Remembered ${instance}/platform of \\d+ leaves: not compared, and kept; .+ ${ask}`));
    expect(alone).toMatchObject({ exitCode: 0, verdict: 'valid', remembered: [{ state: 'unproven', ask }] });
    for (const one of kept) expect(noteIn(one, PLATFORM_TREE)).toBe(noteIn(text, PLATFORM_TREE));
    const out = join(folder, 'asked.jsonl');
    const words = ['audit', 'export', '--out', out, '--url', server.url, '--key', ROOT_KEY, '--platform-since', String(platformSize)];
    expect((await countersign(words, { DATA_DIR: join(folder, 'none') })).code).toBe(0);
    const asked = await both(out, text);
    expect([asked.reported.code, asked.alone.exitCode]).toEqual([1, 1]);
  });

  test('is not vouched for by a server that does not prove it when it is asked', async () => {
    const bytes = readFileSync(await fileOf(EXPORT));
    const site = createServer(({ url: path }, response) => {
      if (path!.startsWith(EXPORT)) return response.setHeader('content-type', 'application/x-ndjson').end(bytes);
      return response.setHeader('content-type', 'application/json').end('{"checkpoints":[{}]}');
    });
    await new Promise<void>((done) => site.listen(0, '127.0.0.1', done));
    const memory = remembered(young);
    const at = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
    const { code, stderr } = await verify(['--url', at, '--key', 'any'], memory);
    site.close();
    expect([code, stderr]).toEqual([2, expect.stringContaining('the server did not show that the history goes on')]);
    expect(readFileSync(memory, 'utf8')).toBe(young);
  });

  test('that has not come so far is refused by the server', async () => {
    const { status, bytes } = await download(server, ROOT_KEY, EXPORT, { platform_since: 1_000_000 });
    expect([status, bytes.toString()]).toEqual([400, expect.stringContaining('?platformSince')]);
  });
});

describe("a person's file", () => {
  test('cannot show that anything goes on: its verdict counts, and the memory stays as it is', async () => {
    const file = await fileOf(`/api/v1/audit/${person.id}/export`, { format: 'jsonl' });
    const { reported, alone, kept } = await both(file, young);
    expect([reported.code, reported.stdout]).toEqual([0, expect.stringContaining('(person: of the rest the file says nothing)')]);
    const wanted = `Remembered ${instance}/${organizationId} of \\d+ leaves: not compared, and kept; .+ no export of this kind`;
    expect(reported.stdout).toMatch(new RegExp(wanted));
    expect(alone).toMatchObject({ exitCode: 0, verdict: 'valid' });
    for (const one of kept) expect(JSON.parse(one)).toEqual(JSON.parse(young));
  });
});

describe("a window's file", () => {
  const selection = () => ({ to: '2020-01-01', organization_id: organizationId });

  test('that does not show that its tree goes on has a verdict, and ends with 2: which export shows it is said', async () => {
    const { reported, alone, kept } = await both(await fileOf(EXPORT, selection()), young);
    expect(reported.code).toBe(2);
    expect(reported.stdout).toContain('(part: of the rest the file says nothing)');
    const since = sizeIn(young, organizationId);
    expect(reported.stderr).toContain(`organization_id=${organizationId}&since=${since}`);
    expect(reported.stderr).toContain('--no-remember');
    expect(alone).toMatchObject({ exitCode: 2, verdict: 'valid' });
    expect(kept).toEqual([young, young]);
    const asked = await both(await fileOf(EXPORT, { ...selection(), since, platform_since: platformSize }), young);
    expect([asked.reported.code, asked.alone.exitCode]).toEqual([0, 0]);
    for (const one of asked.kept) expect(sizeIn(one, organizationId)).toBeGreaterThan(since);
  });
});
