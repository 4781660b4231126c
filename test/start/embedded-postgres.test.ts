import { afterEach, describe, expect, it } from '@jest/globals';
import { spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { StartRefused } from '../../src/platform/config/start-refused.js';
import { startEmbeddedPostgres, type EmbeddedPostgres, type EmbeddedPostgresOptions } from '../../src/platform/embedded/supervisor.js';
import { findBinaries } from '../../src/platform/embedded/binaries.js';
import { removeDataDirectory } from '../../src/platform/embedded/cluster.js';
import { databaseUser, ownerOf } from '../../src/platform/embedded/database-user.js';
import { freePort } from '../../src/platform/embedded/postmaster.js';

const folders: string[] = [];
const running = new Set<EmbeddedPostgres>();

function freshFolder(mode = 0o711): string {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-embedded-'));
  chmodSync(folder, mode);
  folders.push(folder);
  return folder;
}

async function start(dataDir: string, more: Partial<EmbeddedPostgresOptions> = {}): Promise<EmbeddedPostgres> {
  const database = await startEmbeddedPostgres({ dataDir, ...more });
  running.add(database);
  return database;
}

async function stop(database: EmbeddedPostgres): Promise<void> {
  running.delete(database);
  await database.stop();
}

async function ask(url: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query({ text: sql, rowMode: 'array' })).rows.flat() as unknown[];
  } finally {
    await client.end();
  }
}

const refusal = async (attempt: Promise<unknown>): Promise<string> => {
  const error = await attempt.then(() => undefined, (reason: unknown) => reason);
  expect(error).toBeInstanceOf(StartRefused);
  return (error as Error).message;
};

const clusterOf = async (database: EmbeddedPostgres) => String((await ask(database.superuserUrl, 'SHOW data_directory'))[0]);

afterEach(async () => {
  for (const database of running) await stop(database);
  for (const folder of folders.splice(0)) removeDataDirectory(folder);
});

describe('the embedded database', () => {
  it('is made once, keeps its data and lets only its owner in', async () => {
    const dataDir = freshFolder();
    const first = await start(dataDir);
    expect(first.firstStart).toBe(true);
    const role = await ask(first.url, 'SELECT rolname, rolsuper FROM pg_roles WHERE rolname = current_user');
    expect(role).toEqual(['countersign', false]);
    expect(await ask(first.url, 'SHOW fsync')).toEqual(['on']);
    expect(await ask(first.url, 'SHOW max_connections')).toEqual(['200']);
    expect(await ask(first.url, 'SHOW listen_addresses')).toEqual(['127.0.0.1']);
    expect(await ask(first.superuserUrl, "SELECT DISTINCT auth_method FROM pg_hba_file_rules")).toEqual(['scram-sha-256']);
    await ask(first.url, 'CREATE TABLE kept AS SELECT 7 AS n');
    await stop(first);
    expect(existsSync(join(dataDir, 'server.lock'))).toBe(false);

    const second = await start(dataDir, { settings: { work_mem: '5MB' } });
    expect(second.firstStart).toBe(false);
    expect(await ask(second.url, 'SELECT n FROM kept')).toEqual([7]);
    expect(await ask(second.url, 'SHOW work_mem')).toEqual(['5MB']);
    await expect(ask(second.url.replace(/:[^:@]+@/, ':wrong@'), 'SELECT 1')).rejects.toMatchObject({ code: '28P01' });
    for (const file of readdirSync(join(dataDir, 'secrets'))) {
      expect([file, statSync(join(dataDir, 'secrets', file)).mode & 0o777]).toEqual([file, 0o600]);
    }
    expect(statSync(join(dataDir, 'secrets')).mode & 0o777).toBe(0o700);
  });

  it('is reached by a Unix socket, with the password as ever, and leaves none behind that a killed one left', async () => {
    const dataDir = freshFolder();
    const first = await start(dataDir);
    const cluster = await clusterOf(first);
    expect(new URL(first.url).searchParams.get('host')).toBe(cluster);
    expect(await ask(first.url, 'SELECT inet_client_addr()')).toEqual([null]);
    await expect(ask(first.url.replace(/:[^:@]+@/, ':wrong@'), 'SELECT 1')).rejects.toMatchObject({ code: '28P01' });
    await stop(first);
    for (const name of ['.s.PGSQL.5432', '.s.PGSQL.5432.lock', '.s.probe']) writeFileSync(join(cluster, name), '');
    const second = await start(dataDir);
    expect(await ask(second.url, 'SELECT inet_client_addr()')).toEqual([null]);
    const { port } = new URL(second.url);
    const sockets = readdirSync(cluster).filter((name) => name.startsWith('.s.'));
    expect(sockets.sort()).toEqual([`.s.PGSQL.${port}`, `.s.PGSQL.${port}.lock`]);
  });

  it('does without a socket where its path would be too long', async () => {
    const database = await start(join(freshFolder(), 'd'.repeat(120)));
    const [address] = await ask(database.url, 'SELECT host(inet_client_addr())');
    // Below a folder that is closed to the database's user the files are elsewhere, under a short name.
    expect(address).toBe((await clusterOf(database)).length > 100 ? '127.0.0.1' : null);
  });

  it('has one owner at a time', async () => {
    const dataDir = freshFolder();
    await start(dataDir);
    expect(await refusal(start(dataDir))).toMatch(`is in use by the server with process id ${process.pid}`);
  });

  it('ends what a killed process left behind, and goes on with its data', async () => {
    const dataDir = freshFolder();
    const first = await start(dataDir);
    await ask(first.url, 'CREATE TABLE kept AS SELECT 8 AS n');
    const cluster = await clusterOf(first);
    await stop(first);
    const { postgres } = findBinaries({ copyTo: dirname(cluster), user: databaseUser(ownerOf(cluster)) });
    const port = await freePort();
    const orphan = spawn(postgres, ['-D', cluster, '-c', `port=${port}`, '-c', 'unix_socket_directories='], {
      ...owner(cluster), cwd: '/', stdio: 'ignore',
    });
    const orphanUrl = first.url.replace(/:\d+\/.*/, `:${port}/countersign`);
    while ((await ask(orphanUrl, 'SELECT n FROM kept').catch(() => []))[0] !== 8) await delay(20);
    // The lock of a process that is gone: its number is another's now.
    writeFileSync(join(dataDir, 'server.lock'), JSON.stringify({ pid: process.ppid, born: 'before the last boot' }));

    const lines: string[] = [];
    const next = await start(dataDir, { log: (text) => lines.push(text) });
    expect(await ask(next.url, 'SELECT n FROM kept')).toEqual([8]);
    expect(lines.join()).toContain(`ending the database server ${orphan.pid}`);
    expect(orphan.exitCode).toBe(0);
  });

  it('is not confused by a stale pid file whose number is another process now', async () => {
    const dataDir = freshFolder();
    const first = await start(dataDir);
    const cluster = await clusterOf(first);
    await stop(first);
    const bystander = spawn('sleep', ['60'], { ...owner(cluster), stdio: 'ignore' });
    writeFileSync(join(cluster, 'postmaster.pid'), `${bystander.pid}\n${cluster}\n1700000000\n5432\n\n127.0.0.1\n`);
    const next = await start(dataDir);
    expect(next.firstStart).toBe(false);
    expect(bystander.exitCode ?? bystander.signalCode).toBeNull();
    bystander.kill();
  });

  it('says when the database is lost, and recovers at the next start', async () => {
    const dataDir = freshFolder();
    const first = await start(dataDir);
    process.kill(first.pid, 'SIGKILL');
    await first.lost;
    await stop(first);
    expect((await start(dataDir)).firstStart).toBe(false);
  });

  it('refuses the files of another major version, and leaves them alone', async () => {
    const dataDir = freshFolder();
    const first = await start(dataDir);
    const cluster = await clusterOf(first);
    await stop(first);
    const version = readFileSync(join(cluster, 'PG_VERSION'), 'utf8');
    writeFileSync(join(cluster, 'PG_VERSION'), '12\n');
    expect(await refusal(start(dataDir))).toMatch(/of PostgreSQL 12, the server brings 18/);
    writeFileSync(join(cluster, 'PG_VERSION'), version);
    expect((await start(dataDir)).firstStart).toBe(false);
  });

  it('does not make a new password for data that it cannot open', async () => {
    const dataDir = freshFolder();
    await stop(await start(dataDir));
    rmSync(join(dataDir, 'secrets', 'database-password'));
    await stop(await start(dataDir));
    rmSync(join(dataDir, 'secrets', 'database-superuser-password'));
    expect(await refusal(start(dataDir))).toMatch(/password of the database .* is missing/);
  });

  it('begins anew after an interrupted first start', async () => {
    const dataDir = freshFolder();
    await expect(start(dataDir, { beforeStart: () => { throw new Error('power cut'); } })).rejects.toThrow('power cut');
    expect((await start(dataDir)).firstStart).toBe(true);
  });

  it('finds a place for the database user when the folder is closed to others', async () => {
    const home = freshFolder(0o700);
    const dataDir = join(home, 'data');
    const first = await start(dataDir);
    const cluster = await clusterOf(first);
    await stop(first);
    // Root needs another place, since the database runs as nobody; an ordinary user's own folder is good enough.
    if (process.getuid?.() === 0) {
      expect(cluster).not.toContain(home);
      expect(statSync(cluster).uid).not.toBe(0);
    } else expect(cluster).toBe(join(dataDir, 'postgres'));
    const second = await start(dataDir);
    expect(second.firstStart).toBe(false);
    expect(await clusterOf(second)).toBe(cluster);
    folders.unshift(dataDir);
    await stop(second);
    removeDataDirectory(dataDir);
    expect([cluster, dirname(cluster), dataDir].filter(existsSync)).toEqual([]);
  });

  it('refuses programs that are none', async () => {
    const message = await refusal(start(freshFolder(), { binDir: '/nonexistent' }));
    expect(message).toMatch(/^POSTGRES_BIN: \/nonexistent holds no initdb/);
  });
});

const owner = (path: string) => {
  const { uid, gid } = statSync(path);
  return process.getuid?.() === 0 ? { uid, gid } : {};
};
