import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { asRoot } from '../support/http/actors.js';
import { eventually } from '../support/running/eventually.js';
import { startServer, type TestServer } from '../support/servers/server.js';
import { CHECKOUT, ROOT_KEY } from '../support/servers/test-run.js';

const MINUTE = 60_000;
const PATIENCE = { within: 60_000 };
// Free, or nearly surely so: what is below 32768 is handed out to nobody, and browsers' forbidden ports are refused by fetch.
const NOBODY = 'http://127.0.0.1:31999';
const folders: string[] = [];

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** `npm run demo` with these arguments, without a terminal, its temporary files in a folder of their own. */
function runDemo(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const temporary = mkdtempSync(join(tmpdir(), 'countersign-demo-test-'));
  chmodSync(temporary, 0o711);
  folders.push(temporary);
  const child = spawn(process.execPath, ['scripts/demo.mjs', ...args], {
    cwd: CHECKOUT,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, TMPDIR: temporary, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  child.stdout.on('data', (part: Buffer) => (output += part.toString('utf8')));
  child.stderr.on('data', (part: Buffer) => (output += part.toString('utf8')));
  const exit = new Promise<number | NodeJS.Signals | null>((done) => child.once('close', (code, signal) => done(code ?? signal)));
  const signal = (name: NodeJS.Signals) => child.kill(name);
  return { exit, signal, output: () => output, leftOvers: () => readdirSync(temporary) };
}

/** Waits for its end, which must be this one; else the story so far says more than a number. */
async function ended(demo: ReturnType<typeof runDemo>, wanted: number): Promise<void> {
  const exit = await demo.exit;
  if (exit !== wanted) throw new Error(`the demo ended with ${exit}, not ${wanted}:\n${demo.output()}`);
}

describe('npm run demo on a server of its own', () => {
  test('--auto tells the story to its end, and the operator\'s command names the entry that was changed', async () => {
    // Settings of a real installation do not reach the demo's server: it would not start with these.
    const real = { DATABASE_URL: 'postgres://u:p@127.0.0.1:1/real', DATA_DIR: '/nonexistent', PORT: 'none' };
    const demo = runDemo(['--auto'], real);
    await ended(demo, 0);
    const output = demo.output();
    // What arrived outside, as the receiver saw it.
    expect(output).toContain('POST /orders\n    {"item":"steel sheet, 1 t","amount":480,"currency":"EUR"}');
    expect(output).toContain('POST /orders\n    {"item":"steel sheet, 10 t","amount":4650,"currency":"EUR"}');
    expect(output).toContain('above EUR 500 a');
    expect(output).toContain('gate  ✘ blocked');
    expect(output).toContain('person  ✘ rejected');
    expect(output).toContain('403 CAPABILITY_NOT_GRANTED');
    expect(output).toContain('403 AGENT_INACTIVE');
    expect(output).toContain('It tried 8 times. The shop, a real server on this machine, got 4 calls.');
    expect(output).toMatch(/✔ all \d+ entries are as they were written/);

    const changed = /WHERE id = '(audit_[0-9a-z]+)';/.exec(output)?.[1] ?? 'no statement';
    const report = output.slice(output.indexOf('$ node bin/countersign.mjs audit verify'));
    expect(report).toContain('The audit log was tampered with: 3 breaks.');
    expect(report).toMatch(/edited\s+entry \d+ of chain agt_/);
    // The request shows something else than that entry now, and what began under it is no longer what it asked for.
    expect(report).toMatch(/incomplete\s+request hitl_/);
    expect(report).toMatch(/gate_wrong\s+entry \d+ of chain agt_/);
    expect(report).toContain(changed);
    expect(report).toMatch(/exit code 1: found, and named: entry \d+ \(hitl\.created of shop\.order\)/);

    expect(output).not.toContain('\u001b');
    expect(Math.max(...output.split('\n').map((line) => [...line].length))).toBeLessThanOrEqual(80);
    expect(demo.leftOvers()).toEqual([]);
  }, MINUTE);

  test('an interrupted one takes its server and its files along', async () => {
    const demo = runDemo(['--auto']);
    await eventually(() => expect(demo.output()).toContain('A server of its own at'), PATIENCE);
    const url = /http:\/\/127\.0\.0\.1:\d+/.exec(demo.output())?.[0] ?? '';
    expect(demo.leftOvers()).toHaveLength(1);
    demo.signal('SIGINT');
    await ended(demo, 130);
    expect(demo.leftOvers()).toEqual([]);
    await expect(fetch(`${url}/health`)).rejects.toThrow('fetch failed');
  }, MINUTE);

  test('interrupted while its server is still starting, too', async () => {
    const demo = runDemo(['--auto']);
    await eventually(() => expect(demo.leftOvers()).toHaveLength(1), PATIENCE);
    demo.signal('SIGINT');
    await ended(demo, 130);
    expect(demo.output()).not.toContain('A server of its own at');
    expect(demo.leftOvers()).toEqual([]);
  }, MINUTE);
});

describe('npm run demo on somebody\'s server', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer();
  }, MINUTE);
  afterAll(() => server.stop(), MINUTE);

  test('stops after verifying, changes nothing in the database, and leaves neither agents nor capabilities', async () => {
    const before = await asRoot(server).get('/api/v1/capabilities');
    const demo = runDemo(['--auto', '--url', server.url], { COUNTERSIGN_KEY: ROOT_KEY });
    await ended(demo, 0);
    expect(demo.output()).toContain(`Your server at ${server.url}`);
    expect(demo.output()).toContain('got 4 calls.');
    expect(demo.output()).toMatch(/✔ all \d+ entries are as they were written/);
    expect(demo.output()).not.toMatch(/UPDATE|tampered/);
    expect(demo.leftOvers()).toEqual([]);

    const root = asRoot(server);
    expect((await root.get('/api/v1/agents')).number('total')).toBe(0);
    expect((await root.get('/api/v1/capabilities')).body).toEqual(before.body);
    expect((await root.get('/api/v1/hitl?status=pending')).number('total')).toBe(0);
    const [removed] = await server.sql<{ event: string }>(
      `select event from audit_entries where agent_id is not null order by seq desc limit 1`,
    );
    expect(removed?.event).toBe('agent.removed');
  }, MINUTE);

  const refused: [name: string, args: string[], env: Record<string, string>, words: string][] = [
    ['nobody there to be asked', [], {}, 'This is no terminal, so nobody can be asked. Use: npm run demo -- --auto'],
    ['an address without a key', ['--auto', '--url', NOBODY], {}, `The root key of ${NOBODY} is needed`],
    ['a server that is not there', ['--auto', '--url', NOBODY, '--key', 'x'], {}, 'cannot be reached (ECONNREFUSED)'],
    ['an option that is none', ['--fast'], {}, 'npm run demo -- [--auto]'],
    ['what is no address', ['--auto'], { COUNTERSIGN_URL: 'here', COUNTERSIGN_KEY: 'x' }, 'here is not the address of a server'],
  ];
  test.each(refused)('%s: says so and ends with 2', async (_name, args, env, words) => {
    const demo = runDemo(args, env);
    await ended(demo, 2);
    expect(demo.output()).toContain(words);
    expect(demo.output()).not.toMatch(/^\s+at /m);
    expect(demo.leftOvers()).toEqual([]);
  }, MINUTE);

  test('a key that it does not know: says so and ends with 2', async () => {
    const demo = runDemo(['--auto'], { COUNTERSIGN_URL: server.url, COUNTERSIGN_KEY: `svc_root_${'0'.repeat(64)}` });
    await ended(demo, 2);
    expect(demo.output()).toContain('does not accept this key');
  }, MINUTE);
});
