// A PostgreSQL of the machine's own, in a folder of the caller's: for what needs its pg_dump, which the embedded one does not bring.
import { spawn, spawnSync } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { freePort } from './first-run.mjs';

const OLDEST = 15;

export const MISSING = `PostgreSQL's initdb, postgres, psql and pg_dump (${OLDEST} or newer) are not here.\n`
  + 'Debian, Ubuntu: apt-get install postgresql postgresql-client · macOS: brew install postgresql@15\n';

/** The folder of a PostgreSQL that is installed here, the oldest that will do: the one that dumps are made with. */
export function programs() {
  return installations().find(({ bin }) => ['pg_dump', 'psql'].every((name) => existsSync(join(bin, name))))?.bin;
}

/**
 * The servers that are installed here and can be used: the one of POSTGRES_BIN, or Debian's by version and the one of `pg_config`.
 * @returns {{ bin: string, version: number }[]}
 */
export function installations() {
  const named = spawnSync('pg_config', ['--bindir'], { encoding: 'utf8' }).stdout?.trim();
  const ofDebian = existsSync('/usr/lib/postgresql') ? readdirSync('/usr/lib/postgresql').map(Number).sort((a, b) => a - b) : [];
  const folders = process.env.POSTGRES_BIN ? [process.env.POSTGRES_BIN]
    : [...ofDebian.map((version) => `/usr/lib/postgresql/${version}/bin`), ...(named ? [named] : [])];
  return [...new Set(folders)]
    .filter((bin) => ['initdb', 'postgres'].every((name) => existsSync(join(bin, name))))
    .map((bin) => ({ bin, version: versionOf(bin) }))
    .filter(({ version }) => version >= OLDEST);
}

function versionOf(bin) {
  return Number(/\) (\d+)/.exec(spawnSync(join(bin, 'postgres'), ['--version'], { encoding: 'utf8' }).stdout)?.[1]);
}

/** For what is made and thrown away. */
const HASTY = { locale: 'C', settings: { fsync: 'off' } };

/**
 * PostgreSQL refuses to run as root: then it runs as the user that its package has made, or as nobody.
 * @param {{ locale: string, settings: Record<string, string> }} cluster `settings` over those of the package's configuration file
 */
export async function startCluster(binaries, dataDir, { locale, settings: own } = HASTY) {
  const user = process.getuid?.() === 0 ? otherUser() : {};
  mkdirSync(dataDir, { mode: 0o700 });
  if (user.uid !== undefined) chownSync(dataDir, user.uid, user.gid);
  const options = ['-D', dataDir, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', `--locale=${locale}`, '--no-sync'];
  const made = spawnSync(join(binaries, 'initdb'), options, { ...user, cwd: '/', encoding: 'utf8' });
  if (made.status !== 0) throw new Error(`initdb: ${made.stderr}`);
  const port = await freePort();
  const settings = { listen_addresses: '127.0.0.1', port, unix_socket_directories: '', ...own };
  const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const server = spawn(join(binaries, 'postgres'), ['-D', dataDir, ...args], { ...user, cwd: '/', stdio: ['ignore', 'ignore', 'pipe'] });
  const gone = new Promise((resolve) => server.once('close', resolve));
  let said = '';
  server.stderr.on('data', (chunk) => (said = (said + chunk).slice(-4_000)));
  // SIGINT is its fast shutdown, which ends with a checkpoint.
  const stop = async () => {
    server.kill('SIGINT');
    await gone;
  };
  const superuserUrl = `postgres://postgres@127.0.0.1:${port}/postgres`;
  for (const until = Date.now() + 30_000; ; await pause(100)) {
    try {
      await query(superuserUrl, 'create role countersign login createdb');
      break;
    } catch (error) {
      if (Date.now() > until || server.exitCode !== null) {
        await stop();
        throw new Error(`PostgreSQL did not start: ${error.message}\n${said}`);
      }
    }
  }
  await query(superuserUrl, 'create database countersign_test owner countersign');
  return { url: `postgres://countersign@127.0.0.1:${port}/countersign_test`, superuserUrl, stop };
}

/** What pg_dump makes of a database. */
export function dumpOf(binaries, url) {
  const { status, stdout, stderr } = spawnSync(join(binaries, 'pg_dump'), [url], { encoding: 'utf8', maxBuffer: 1 << 30 });
  if (status !== 0) throw new Error(`pg_dump: ${stderr}`);
  return stdout;
}

/** Whom PostgreSQL runs as where we are root: its package's user, or nobody. */
export function otherUser() {
  const users = readFileSync('/etc/passwd', 'utf8').split('\n').map((line) => line.split(':'));
  const [, , uid, gid] = users.find(([name]) => name === 'postgres') ?? users.find(([name]) => name === 'nobody') ?? [];
  return { uid: Number(uid), gid: Number(gid) };
}

export async function query(url, ...statements) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    let rows = [];
    for (const statement of statements) ({ rows } = await client.query(statement));
    return rows;
  } finally {
    await client.end();
  }
}
