import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { anAgent, type BuiltAgent } from '../../support/builders/agents.js';
import { countersign } from '../../support/servers/command-line.js';
import { allSigned } from '../../support/log/exports.js';
import { anOrganization, aPerson, type BuiltPerson } from '../../support/builders/people.js';
import { startServer, type TestServer } from '../../support/servers/server.js';
import { ROOT_KEY } from '../../support/servers/test-run.js';

/** Nobody listens there. */
const AWAY = 'http://127.0.0.1:9';
const PATH_ONLY = 'nonsense';
const NO_VERIFIER_KEY = /'--verifier-key <key>' argument '(undefined|nonsense)' is invalid\. A verifier key is <name>/;

let server: TestServer;
let folder: string;
let file: string;
let site: Server;
let page: string;
let organizationId: string;
let agent: BuiltAgent;
let person: BuiltPerson;

beforeAll(async () => {
  server = await startServer({ env: { AUDIT_CHECKPOINT_SECONDS: '1' } });
  folder = mkdtempSync(join(tmpdir(), 'verify-command-'));
  file = join(folder, 'log.jsonl.gz');
  organizationId = await anOrganization(server);
  agent = await anAgent(server).inOrganization(organizationId).granted('web.search').create();
  person = await aPerson(server, 'admin', { organizationId });
  (await person.client.get('/api/v1/audit/export')).expect(200);
  (await agent.client.post('/api/v1/execute', { capability: 'web.search', input: {} })).expect(200);
  await allSigned(server);
  const { code } = await countersign(['audit', 'export', '--out', file, '--url', server.url, '--key', ROOT_KEY], env());
  expect(code).toBe(0);
  site = createServer((_request, response) => response.setHeader('content-type', 'text/html').end('<p>somewhere else'));
  await new Promise<void>((done) => site.listen(0, '127.0.0.1', done));
  page = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
});

afterAll(async () => {
  site?.close();
  rmSync(folder, { recursive: true, force: true });
  await server?.stop();
});

// No .countersign of whoever runs the tests.
const env = (more: Record<string, string> = {}) => ({ DATA_DIR: join(folder, 'none'), AUDIT_ANCHORS: server.database.anchors, ...more });
const verify = (words: readonly string[], more: Record<string, string> = {}) =>
  countersign(['audit', 'verify', '--json', '--no-remember', ...words], env(more));

/** Without what is said of secrets among the arguments. */
const withoutAdvice = (stderr: string) =>
  stderr.trimEnd().split('\n').filter((line) => !line.includes(': other users of this machine see ')).join('\n');

test('a key in a file counts as one that is given, for export and verification', async () => {
  const keyFile = join(folder, 'key');
  writeFileSync(keyFile, `${ROOT_KEY}\n`);
  const out = join(folder, 'by-file.jsonl');
  const read = await countersign(['audit', 'export', '--out', out, '--url', server.url], env({ COUNTERSIGN_KEY_FILE: keyFile }));
  expect([read.code, read.stderr]).toEqual([0, expect.not.stringContaining('other users')]);
  const { code, stderr } = await verify(['--key-file', keyFile], { COUNTERSIGN_URL: server.url, DATABASE_URL: PATH_ONLY });
  expect([code, stderr]).toEqual([0, expect.stringContaining('(COUNTERSIGN_URL)')]);
  expect((await verify(['--key', ROOT_KEY], { COUNTERSIGN_URL: server.url })).stderr).toMatch(/other users of this machine see --key/);
});

describe('where a log is read from', () => {
  const place = { COUNTERSIGN_URL: AWAY, COUNTERSIGN_KEY: ROOT_KEY };

  test.each<[string, () => string[], () => Record<string, string>, string]>([
    ['a file that was given, before variables', () => ['--file', file], () => ({ ...place, DATABASE_URL: PATH_ONLY }), '(--file)'],
    ['a database that was given', () => ['--database-url', server.database.url], () => ({ ...place, DATABASE_URL: PATH_ONLY }),
      '(--database-url)'],
    ['a server that was given', () => ['--url', server.url], () => ({ ...place, DATABASE_URL: PATH_ONLY }), '(--url)'],
    ['the server of a key that was given', () => ['--key', ROOT_KEY],
      () => ({ COUNTERSIGN_URL: server.url, COUNTERSIGN_KEY: 'x', DATABASE_URL: PATH_ONLY }), '(COUNTERSIGN_URL)'],
    ['of variables the database, before the server', () => [], () => ({ ...place, DATABASE_URL: server.database.url }), '(DATABASE_URL)'],
    ['the server, where no variable names a database', () => [], () => ({ ...place, COUNTERSIGN_URL: server.url }), '(COUNTERSIGN_URL)'],
  ])('%s', async (_name, words, variables, by) => {
    const { code, stdout, stderr } = await verify(words(), variables());
    expect([code, stderr]).toEqual([0, expect.stringContaining(by)]);
    expect(withoutAdvice(stderr)).toMatch(/^countersign audit verify: reads the [^\n]+$/);
    expect(JSON.parse(stdout)).toMatchObject({ valid: true });
  });

  test('is told without a password', async () => {
    const { stderr } = await verify(['--database-url', 'postgres://who:secret-word@127.0.0.1:1/none']);
    expect(stderr).toContain('reads the database none at 127.0.0.1:1 (--database-url)');
    expect(stderr).not.toContain('secret-word');
  });
});

describe('a file that is not of everything', () => {
  const headline = async (query: string, to: string): Promise<string> => {
    const answer = await fetch(`${server.url}/api/v1/${query}`, { headers: { authorization: `Bearer ${ROOT_KEY}` } });
    expect(answer.status).toBe(200);
    writeFileSync(join(folder, to), Buffer.from(await answer.arrayBuffer()));
    const { code, stdout } = await countersign(['audit', 'verify', '--no-remember', '--file', join(folder, to)], env());
    expect(code).toBe(0);
    return stdout.split('\n')[0]!;
  };

  test('is not called the log', async () => {
    const [agentId, userId] = [agent.id, person.id];
    const rest = 'of the rest the file says nothing';
    expect(await headline('audit/export', 'all.jsonl')).toMatch(/^VALID[^(]+\.$/);
    expect(await headline(`audit/export?organization_id=${organizationId}`, 'one.jsonl')).toContain(`(organizations: ${rest})`);
    for (const limit of [`agent_id=${agentId}`, 'to=2020-01-01']) {
      expect(await headline(`audit/export?organization_id=${organizationId}&${limit}`, 'part.jsonl')).toContain(`(part: ${rest})`);
    }
    expect(await headline(`audit/${userId}/export?format=jsonl`, 'person.jsonl')).toContain(`(person: ${rest})`);
  });

  test('is told by --json, too', async () => {
    const { stdout } = await verify(['--file', file]);
    expect(JSON.parse(stdout)).toMatchObject({ covers: 'log' });
  });
});

describe('what cannot be read', () => {
  const key = ['--key', ROOT_KEY];
  test.each<[string, () => string[], RegExp]>([
    ['nothing there', () => ['--url', AWAY, ...key], /no server answers at http:\/\/127\.0\.0\.1:9 \(.+\): look at --url/],
    ['a path too much', () => ['--url', `${server.url}/api/v1`, ...key], /answered 404: .+ --url is its address, without \/api\/v1/],
    ['another site', () => ['--url', page, ...key], /answers with something else than an export: look at --url/],
    ['no address', () => ['--url', 'garbage', ...key], /--url is no address of a server: write https:/],
    ['no key', () => ['--url', server.url], /give --key-file or COUNTERSIGN_KEY/],
    ['a wrong key', () => ['--url', server.url, '--key', 'wrong'],
      /answered 401: [^{]+ Give a key that may export: --key-file or COUNTERSIGN_KEY/],
    ['a key for nothing', () => ['--file', file, ...key], /a key is for a server: give --url/],
    ['no address of a database', () => ['--database-url', PATH_ONLY],
      /--database-url is no address of a database: write it like postgres:/],
    ['no database there', () => ['--database-url', 'postgres://a:b@127.0.0.1:1/c'],
      /the database cannot be reached \(.*ECONNREFUSED.*\): look at --database-url or DATABASE_URL/],
    ['no file', () => ['--file', join(folder, 'gone')], /--file \S+gone cannot be read \(ENOENT.*\): give an export/],
    ['half of a file', () => ['--file', half()], /--file \S+half\.jsonl\.gz is no file that gzip has packed, or not the whole of it/],
    ['no verifier key, of a database', () => ['--database-url', server.database.url, '--verifier-key', 'undefined'], NO_VERIFIER_KEY],
    ['no verifier key, of a file', () => ['--file', file, '--verifier-key', 'nonsense'], NO_VERIFIER_KEY],
    ['nothing named', () => [], /no server and no database: give --url with --key-file, or --database-url/],
  ])('%s: one sentence that says what to do', async (_name, words, said) => {
    const { code, stdout, stderr } = await verify(words());
    expect([code, stdout]).toEqual([2, '']);
    const lines = withoutAdvice(stderr).split('\n').filter((line) => !line.includes(': reads the '));
    expect(lines).toEqual([expect.stringMatching(said)]);
  });

  function half(): string {
    const path = join(folder, 'half.jsonl.gz');
    const bytes = readFileSync(file);
    writeFileSync(path, bytes.subarray(0, bytes.length / 2));
    return path;
  }

  test.each<[string, () => string, RegExp]>([
    ['that is broken', () => kept('secret-key {'), /--remember \S+ holds no checkpoints .+ --no-remember/],
    ['that cannot be made', () => '/proc/none/checkpoints.json',
      /--remember \/proc\/none\/checkpoints.json cannot be written .+ --no-remember/],
    ['below a file', () => join(kept('{}'), 'x'), /--remember \S+ cannot be written .+ --no-remember/],
  ])('a file of checkpoints %s: before the log is read', async (_name, path, said) => {
    const { code, stdout, stderr } = await countersign(
      ['audit', 'verify', '--database-url', server.database.url, '--remember', path()], env());
    expect([code, stdout, stderr]).toEqual([2, '', expect.stringMatching(said)]);
    expect(stderr).not.toMatch(/secret-key|reads the/);
  });

  function kept(text: string): string {
    const path = join(folder, 'kept.json');
    writeFileSync(path, text);
    return path;
  }
});

describe('anchors', () => {
  const anchors = async (words: string[], named: string) =>
    (JSON.parse((await verify(words, { AUDIT_ANCHORS: named })).stdout) as Record<string, unknown>)['anchorsNotCompared'];

  test('those that were not compared are named, with the reason', async () => {
    const witness = `witness:${AWAY}`;
    const empty = `file:${join(folder, 'no-anchor')}`;
    const unreadable = `file:${file}`;
    const named = [witness, empty, unreadable, server.database.anchors].join(',');
    expect(await anchors(['--database-url', server.database.url], named)).toEqual([
      { name: witness, because: 'shown_nothing' }, { name: empty, because: 'nothing_kept' }, { name: unreadable, because: 'no_answer' },
    ]);
    expect(await anchors(['--file', file], witness)).toEqual([{ name: witness, because: 'export_read' }]);
    const { stdout } = await countersign(
      ['audit', 'verify', '--no-remember', '--database-url', server.database.url], env({ AUDIT_ANCHORS: witness }));
    expect(stdout).toContain(`not compared with the anchor ${witness}: it answers only to a checkpoint that it is shown`);
  });
});
