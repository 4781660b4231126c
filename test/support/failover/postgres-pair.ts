import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { appendFileSync, chownSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import pg from 'pg';
import { eventually } from '../running/eventually.js';
import { freePort } from '../servers/server-process.js';
import { CHECKOUT, runFolder } from '../servers/test-run.js';

const STANDBY = 'standby';
const SETTINGS = {
  listen_addresses: '127.0.0.1', unix_socket_directories: '', fsync: 'off', max_connections: '100', wal_keep_size: '256MB',
};

interface Account {
  readonly uid?: number;
  readonly gid?: number;
}

interface OwnCluster {
  readonly MISSING: string;
  installations(): { readonly bin: string; readonly version: number }[];
  otherUser(): Account;
}

/** One server of PostgreSQL that is installed here. */
export interface Postgres {
  readonly port: number;
  query<Row extends pg.QueryResultRow>(text: string, params?: readonly unknown[]): Promise<Row[]>;
  /** `kill -9` of the postmaster; resolves once none of its processes is left. */
  kill(): Promise<void>;
  /** Resolves once it takes writes. */
  promote(): Promise<void>;
}

/** A primary and its standby, of the first PostgreSQL from 15 on that is installed here. */
export class PostgresPair {
  private readonly running = new Map<Postgres, { readonly child: ChildProcess; readonly folder: string }>();
  primary!: Postgres;
  standby!: Postgres;

  private constructor(
    private readonly bin: string,
    private readonly user: Account,
    private readonly folder: string,
  ) {}

  /** @throws Error where no PostgreSQL is installed */
  static async start(): Promise<PostgresPair> {
    const { installations, otherUser, MISSING } = (await import(
      pathToFileURL(join(CHECKOUT, 'scripts/test/own-cluster.mjs')).href)) as OwnCluster;
    const found = installations().find(({ bin }) => existsSync(join(bin, 'pg_basebackup')));
    if (found === undefined) throw new Error(MISSING);
    const user = process.getuid?.() === 0 ? otherUser() : {};
    const pair = new PostgresPair(found.bin, user, mkdtempSync(join(runFolder(), 'postgres-pair-')));
    if (user.uid !== undefined) chownSync(pair.folder, user.uid, user.gid!);
    const data = join(pair.folder, 'first');
    mkdirSync(data, { mode: 0o700 });
    if (user.uid !== undefined) chownSync(data, user.uid, user.gid!);
    await pair.program('initdb', ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C.UTF-8', '--no-sync']);
    pair.primary = await pair.serve(data);
    await pair.primary.query('create role countersign login createdb');
    await pair.primary.query('create database countersign_test owner countersign');
    return pair;
  }

  /** @param through a port by which the standby reaches the primary, where that is not its own */
  async addStandby(name: string, through = this.primary.port): Promise<void> {
    const data = join(this.folder, name);
    await this.program('pg_basebackup', ['-D', data, '-h', '127.0.0.1', '-p', String(this.primary.port), '-U', 'postgres', '-c', 'fast',
      '-X', 'stream', '--no-sync']);
    // As its own, it waits for nobody once it is the primary.
    appendFileSync(join(data, 'postgresql.auto.conf'), `synchronous_standby_names = ''
primary_conninfo = 'host=127.0.0.1 port=${through} user=postgres application_name=${STANDBY}'
`);
    appendFileSync(join(data, 'standby.signal'), '');
    if (this.user.uid !== undefined) chownSync(join(data, 'standby.signal'), this.user.uid, this.user.gid!);
    this.standby = await this.serve(data);
    await eventually(async () => this.assertReplicates('async'), { within: 30_000 });
  }

  /** From now on no commit is acknowledged that the standby has not on its disk. */
  async synchronous(): Promise<void> {
    await this.primary.query(`alter system set synchronous_standby_names = '${STANDBY}'`);
    await this.primary.query('select pg_reload_conf()');
    await eventually(async () => this.assertReplicates('sync'), { within: 30_000 });
  }

  /** The standby takes the primary's place; what that had is left behind. */
  async exchange(): Promise<void> {
    const gone = this.primary;
    await this.standby.promote();
    this.primary = this.standby;
    const { folder } = this.running.get(gone)!;
    this.running.delete(gone);
    rmSync(folder, { recursive: true, force: true });
  }

  async stop(): Promise<void> {
    for (const postgres of this.running.keys()) await postgres.kill();
  }

  private async assertReplicates(state: string): Promise<void> {
    const rows = await this.primary.query(`select 1 from pg_stat_replication where application_name = $1 and state = 'streaming'
      and sync_state = $2`, [STANDBY, state]);
    if (rows.length === 0) throw new Error(`the standby is not ${state}`);
  }

  private async serve(folder: string): Promise<Postgres> {
    const port = await freePort();
    const args = Object.entries({ ...SETTINGS, port: String(port) }).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    const child = spawn(join(this.bin, 'postgres'), ['-D', folder, ...args], { ...this.user, cwd: '/', stdio: 'ignore' });
    const gone = new Promise((resolve) => child.once('close', resolve));
    const query = async <Row extends pg.QueryResultRow>(text: string, params: readonly unknown[] = []) => {
      const client = new pg.Client({ connectionString: `postgres://postgres@127.0.0.1:${port}/postgres` });
      client.on('error', () => undefined);
      await client.connect();
      return (await client.query<Row>(text, [...params]).finally(() => client.end())).rows;
    };
    const postgres: Postgres = {
      port, query,
      kill: async () => {
        const all = childrenOf(child.pid!);
        child.kill('SIGKILL');
        await gone;
        await eventually(() => assertGone(all), { within: 30_000 });
      },
      promote: async () => {
        await this.program('pg_ctl', ['promote', '-D', folder, '-w']);
      },
    };
    this.running.set(postgres, { child, folder });
    await eventually(() => query('select 1'), { within: 30_000 });
    return postgres;
  }

  private async program(name: string, args: readonly string[]): Promise<void> {
    await promisify(execFile)(join(this.bin, name), [...args], { ...this.user, cwd: '/' });
  }
}

function childrenOf(pid: number): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter((word) => word !== '').map(Number);
}

/** The processes of a postmaster that was killed find out by themselves, each when it looks. */
function assertGone(pids: readonly number[]): void {
  const left = pids.filter((pid) => existsSync(`/proc/${pid}`));
  if (left.length > 0) throw new Error(`${left.length} of its processes are left`);
}
