import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { checkoutRoot } from '../../src/platform/config/checkout-root.js';
import { cleanUp, databasePid, end, freePort, freshFolder, isOpenToAll, launch } from './launch.js';

const KEY = /svc_root_[0-9a-f]{64}/;
const MINUTE = 60_000;

beforeAll(() => {
  execFileSync(process.execPath, [join(checkoutRoot(), 'scripts', 'build.mjs')], { stdio: 'inherit' });
}, 5 * MINUTE);

afterEach(cleanUp, MINUTE);

const settings = async (dataDir: string, more: Record<string, string> = {}) => ({
  env: { DATA_DIR: dataDir, PORT: await freePort(), ...more },
});

/** Runs the printed lines in a shell, as a person would. */
function runPrinted(output: string, env: Record<string, string> = {}): string[] {
  const lines = output.split('\n').filter((line) => line.startsWith('curl '));
  expect(lines).toHaveLength(3);
  return lines.map((line) =>
    execFileSync('sh', ['-c', `${line} -w ' %{http_code}'`], { encoding: 'utf8', env: { PATH: process.env.PATH, ...env } }));
}

describe('npm start on nothing', () => {
  it('makes what it needs, shows the key once, and keeps everything over a second start', async () => {
    const dataDir = freshFolder();
    const first = launch(await settings(dataDir));
    const url = await first.ready;
    const key = KEY.exec(first.output())?.[0] ?? 'no key';
    expect(key).toMatch(KEY);
    expect(first.output()).toContain(`${url}/docs`);
    const answers = runPrinted(first.output());
    expect(answers[0]).toMatch(/^\{"status":"ok"\} 200$/);
    expect(answers[1]).toMatch(/"name":"first-agent".* 201$/);
    expect(answers[2]).toMatch(/"event":"capability.granted".* 200$/s);
    for (const file of readdirSync(join(dataDir, 'secrets'))) {
      expect([file, statSync(join(dataDir, 'secrets', file)).mode & 0o777]).toEqual([file, 0o600]);
    }
    expect(await end(first, 'SIGINT')).toBe(0);
    expect(databasePid(dataDir)).toBeUndefined();

    const second = launch(await settings(dataDir));
    const again = await second.ready;
    expect(second.output()).not.toMatch(KEY);
    expect(second.output()).toContain('$COUNTERSIGN_KEY');
    const agents = await fetch(`${again}/api/v1/agents`, { headers: { authorization: `Bearer ${key}` } });
    expect(await agents.json()).toMatchObject({ total: 1, agents: [{ name: 'first-agent' }] });
    expect(runPrinted(second.output(), { COUNTERSIGN_KEY: key })[2]).toMatch(/"event":"capability.granted".* 200$/s);
    expect(await end(second)).toBe(0);
  }, 2 * MINUTE);

  it('takes the operator\'s key, and writes a made one where it is told', async () => {
    const rootKey = `svc_root_${'0f1e2d3c4b5a69788796a5b4c3d2e1f0'}${'9a8b7c6d5e4f30211203f4e5d6c7b8a9'}`;
    const given = launch(await settings(freshFolder(), { ROOT_API_KEY: rootKey }));
    const url = await given.ready;
    expect(given.output()).not.toMatch(KEY);
    expect((await fetch(`${url}/api/v1/agents`, { headers: { 'x-api-key': rootKey } })).status).toBe(200);
    await end(given);

    const file = join(freshFolder(), 'root-key');
    const made = launch(await settings(freshFolder(), { ROOT_KEY_FILE: file }));
    await made.ready;
    expect(made.output()).not.toMatch(KEY);
    expect(made.output()).toContain(`written to ${file}`);
    expect(readFileSync(file, 'utf8')).toMatch(new RegExp(`^${KEY.source}\n$`));
    expect(statSync(file).mode & 0o777).toBe(0o600);
  }, 2 * MINUTE);

  it('comes back after kill -9, data and all', async () => {
    const dataDir = freshFolder();
    const first = launch(await settings(dataDir));
    await first.ready;
    runPrinted(first.output());
    const key = KEY.exec(first.output())?.[0];
    expect(await end(first, 'SIGKILL')).toBe('SIGKILL');
    const orphan = databasePid(dataDir);
    expect(orphan).toBeGreaterThan(0);

    const second = launch(await settings(dataDir));
    const agents = await fetch(`${await second.ready}/api/v1/agents`, { headers: { authorization: `Bearer ${key}` } });
    expect(await agents.json()).toMatchObject({ total: 1 });
    expect(databasePid(dataDir)).not.toBe(orphan);
    expect(await end(second)).toBe(0);
    expect(databasePid(dataDir)).toBeUndefined();
  }, 2 * MINUTE);

  it('answers what it has begun before it ends', async () => {
    const server = launch(await settings(freshFolder()));
    const { hostname, port } = new URL(await server.ready);
    const body = JSON.stringify({ name: 'slow' });
    const socket = connect(Number(port), hostname);
    let answer = '';
    socket.on('data', (part: Buffer) => (answer += part.toString()));
    socket.write(`POST /api/v1/agents HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\n`);
    socket.write(`Authorization: Bearer ${KEY.exec(server.output())?.[0]}\r\nContent-Length: ${body.length}\r\n\r\n`);
    socket.write(body.slice(0, 5));
    await delay(300);
    // Twice, as from a terminal that signals npm and the server both.
    server.child.kill('SIGINT');
    server.child.kill('SIGINT');
    await delay(300);
    expect(answer).toBe('');
    socket.write(body.slice(5));
    await once(socket, 'close');
    expect(answer).toMatch(/^HTTP\/1\.1 201 /);
    expect(await server.exit).toBe(0);
    expect(server.output()).not.toMatch(/Error|not end as it should/);
  }, MINUTE);

  it('serves two data directories side by side', async () => {
    const both = [launch(await settings(freshFolder())), launch(await settings(freshFolder()))];
    const urls = await Promise.all(both.map((server) => server.ready));
    expect(new Set(urls).size).toBe(2);
    for (const url of urls) expect(await (await fetch(`${url}/health`)).json()).toEqual({ status: 'ok' });
  }, MINUTE);

  it('runs as an ordinary user', async () => {
    const root = process.getuid?.() === 0;
    const user = root ? { uid: 65_534, gid: 65_534 } : undefined;
    const checkout = !root || isOpenToAll(checkoutRoot()) ? checkoutRoot() : copyOfCheckout();
    const dataDir = freshFolder(user);
    const server = launch({ ...(await settings(dataDir, { HOME: '/nonexistent' })), user, checkout });
    expect((await fetch(`${await server.ready}/health`)).status).toBe(200);
    const owner = user?.uid ?? process.getuid?.();
    expect(statSync(join(dataDir, 'postgres')).uid).toBe(owner);
    expect(statSync(join(dataDir, 'secrets', 'jwt-secret')).uid).toBe(owner);
    expect(await end(server)).toBe(0);
  }, 2 * MINUTE);
});

function copyOfCheckout(): string {
  const copy = join(freshFolder(), 'checkout');
  mkdirSync(copy);
  for (const part of ['package.json', 'package-lock.json', 'scripts', 'dist', 'node_modules']) {
    cpSync(join(checkoutRoot(), part), join(copy, part), { recursive: true, verbatimSymlinks: true });
  }
  execFileSync('chmod', ['-R', 'a+rX', copy]);
  return copy;
}

describe('what stands in the way is said in one message', () => {
  const refused: [name: string, env: Record<string, string>, message: RegExp][] = [
    ['a bad port', { PORT: 'http' }, /^PORT: must be a whole number/m],
    ['a weak secret', { JWT_SECRET: 'change-me-change-me-now-please-0123' }, /^JWT_SECRET: contains a well-known default/m],
    ['a short key', { ENCRYPTION_KEY: 'c2hvcnQ=' }, /^ENCRYPTION_KEY: must be 32 bytes/m],
    ['a bad signing key', { AUDIT_SIGNING_KEY: 'x' }, /^AUDIT_SIGNING_KEY: /m],
    ['a root key of another form', { ROOT_API_KEY: 'root' }, /^ROOT_API_KEY: /m],
    ['a runtime that is not there', { RUNTIME_PRIMARY: 'nodes' }, /^RUNTIME_PRIMARY: must be one of/m],
    ['production without a database', { NODE_ENV: 'production' }, /"level":"fatal".*DATABASE_URL: must be set when NODE_ENV/m],
    ['a database without secrets', { DATABASE_URL: 'postgres://u:p@127.0.0.1:1/d' }, /^JWT_SECRET, .*countersign.mjs secrets/m],
    ['a place for the key that is none', { ROOT_KEY_FILE: '/nonexistent/key' }, /^ROOT_KEY_FILE: /m],
    ['a data directory that cannot be', { DATA_DIR: '/dev/null/data' }, /^DATA_DIR: /m],
    ['an address of another machine', { HOST: '192.0.2.1' }, /^HOST: 192\.0\.2\.1 is not an address of this machine/m],
  ];
  it.each(refused)('%s', async (_name, env, message) => {
    const dataDir = freshFolder();
    const server = launch(await settings(dataDir, env));
    expect(await server.exit).toBe(1);
    expect(server.output()).toMatch(message);
    expect(server.output()).not.toMatch(/^\s+at |node_modules/m);
    expect(databasePid(dataDir)).toBeUndefined();
  }, MINUTE);

  it('a port that is taken, before anything is made', async () => {
    const dataDir = freshFolder();
    const squatter = createServer().listen(0, '127.0.0.1');
    await once(squatter, 'listening');
    const address = squatter.address();
    const PORT = String(address && typeof address === 'object' ? address.port : 0);
    const server = launch(await settings(dataDir, { PORT }));
    expect(await server.exit).toBe(1);
    expect(server.output()).toContain(`PORT: port ${PORT} of 127.0.0.1 is already in use`);
    expect(readdirSync(dataDir)).toEqual([]);
    squatter.close();
  }, MINUTE);

  it('a data directory in use, and the first server goes on', async () => {
    const dataDir = freshFolder();
    const first = launch(await settings(dataDir));
    const url = await first.ready;
    const second = launch(await settings(dataDir));
    expect(await second.exit).toBe(1);
    expect(second.output()).toContain(`is in use by the server with process id ${first.child.pid}`);
    expect((await fetch(`${url}/health`)).status).toBe(200);
  }, MINUTE);

  it('a lost secret, and other secrets than the data was made with', async () => {
    const dataDir = freshFolder();
    const first = launch(await settings(dataDir));
    await first.ready;
    await end(first);
    const file = join(dataDir, 'secrets', 'encryption-key');
    const key = readFileSync(file, 'utf8');
    rmSync(file);
    const lost = launch(await settings(dataDir));
    expect(await lost.exit).toBe(1);
    expect(lost.output()).toMatch(/ENCRYPTION_KEY: is not set, and .*encryption-key, made with the database, is missing/);

    writeFileSync(file, `${Buffer.from(key, 'base64').reverse().toString('base64')}\n`, { mode: 0o600 });
    const other = launch(await settings(dataDir));
    expect(await other.exit).toBe(1);
    expect(other.output()).toContain('ENCRYPTION_KEY');

    writeFileSync(file, key, { mode: 0o600 });
    expect(await launch(await settings(dataDir)).ready).toMatch(/^http/);
  }, 2 * MINUTE);

  it('a signal during the start ends it without a trace', async () => {
    const dataDir = freshFolder();
    const server = launch(await settings(dataDir));
    while (!existsSync(join(dataDir, 'server.lock')) && server.child.exitCode === null) await delay(5);
    server.child.kill('SIGTERM');
    await server.exit;
    expect(server.output()).not.toMatch(/did not start/);
    const next = launch(await settings(dataDir));
    expect(await next.ready).toMatch(/^http/);
  }, MINUTE);
});
