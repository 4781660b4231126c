import { chmodSync, chownSync, copyFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { anonymous } from '../support/http/actors.js';
import { anAgent } from '../support/builders/agents.js';
import { EXECUTE } from '../support/http/paths.js';
import { type Certificates, makeCertificates } from '../support/installed/certificates.js';
import { openFolder } from '../support/installed/program.js';
import { countersign } from '../support/servers/command-line.js';
import { startServer } from '../support/servers/server.js';
import type { TestDatabase } from '../support/servers/database.js';
import { CHECKOUT } from '../support/servers/test-run.js';

interface Cluster {
  readonly url: string;
  readonly superuserUrl: string;
  stop(): Promise<void>;
}
interface OwnClusters {
  programs(): string | undefined;
  startCluster(binaries: string, dataDir: string): Promise<Cluster>;
}

// Debian's PostgreSQL, with a certificate of its own for the name localhost; by an address it is another's.
let cluster: Cluster;
let right: Certificates;
let wrong: Certificates;
let folder: string;

beforeAll(async () => {
  const { programs, startCluster } = (await import(pathToFileURL(join(CHECKOUT, 'scripts/test/own-cluster.mjs')).href)) as OwnClusters;
  folder = openFolder('tls');
  [right, wrong] = [makeCertificates(folder, 'right', 'DNS:localhost'), makeCertificates(folder, 'wrong', 'DNS:localhost')];
  const data = join(folder, 'postgres');
  cluster = await startCluster(programs()!, data);
  const { uid, gid } = statSync(data);
  for (const [from, to] of [[right.cert, 'server.crt'], [right.key, 'server.key']] as const) {
    copyFileSync(from, join(data, to));
    chownSync(join(data, to), uid, gid);
    chmodSync(join(data, to), 0o600);
  }
  await administer('alter system set ssl = on', 'select pg_reload_conf()');
});
afterAll(() => cluster.stop());

async function administer(...statements: readonly string[]): Promise<void> {
  const client = new pg.Client({ connectionString: cluster.superuserUrl });
  await client.connect();
  for (const statement of statements) await client.query(statement);
  await client.end();
}

function address(host: string, query: Readonly<Record<string, string>>): string {
  const url = new URL(cluster.url);
  url.hostname = host;
  url.search = new URLSearchParams(query).toString();
  return url.href;
}

const start = (url: string) => startServer({
  ownProcess: true, replicaOf: { database: { url, anchors: 'none' } as TestDatabase }, env: { DATABASE_URL: url, AUDIT_ANCHORS: 'none' },
});

test('by the right authority and name, all connections of a server are encrypted', async () => {
  const url = address('localhost', { sslmode: 'verify-full', sslrootcert: right.ca });
  const server = await start(url);
  try {
    const agent = await anAgent(server).granted('web.search').create();
    (await agent.client.post(EXECUTE, { capability: 'web.search' })).expect(200);
    (await anonymous(server).get('/health/ready')).expect(200);
    const client = new pg.Client({ connectionString: cluster.superuserUrl });
    await client.connect();
    const { rows } = await client.query(`select ssl, count(*)::integer as n from pg_stat_ssl join pg_stat_activity using (pid)
      where usename = 'countersign' group by ssl`);
    await client.end();
    expect(rows).toEqual([{ ssl: true, n: expect.any(Number) }]);
    const doctor = await countersign(['doctor', '--json'], { DATABASE_URL: url, AUDIT_ANCHORS: 'none' });
    expect(JSON.parse(doctor.stdout).findings).toContainEqual(expect.objectContaining({ check: 'database', state: 'well' }));
  } finally {
    await server.stop();
  }
});

test.each<[string, () => string, RegExp]>([
  ['another authority', () => address('localhost', { sslmode: 'verify-full', sslrootcert: wrong.ca }),
    /DATABASE_URL: the database cannot be reached \(.*certificate.*\): its certificate is not believed/],
  ['no authority of ours', () => address('localhost', { sslmode: 'verify-full' }), /its certificate is not believed/],
  ['another name', () => address('127.0.0.1', { sslmode: 'verify-full', sslrootcert: right.ca }),
    /ERR_TLS_CERT_ALTNAME_INVALID.*its certificate is not believed/],
])('%s: the start is refused at once, with a sentence', async (_name, url, said) => {
  await expect(start(url())).rejects.toThrow(said);
});

test('a database without encryption', async () => {
  await administer('alter system set ssl = off', 'select pg_reload_conf()');
  await expect(start(address('localhost', { sslmode: 'verify-full', sslrootcert: right.ca })))
    .rejects.toThrow(/DATABASE_URL: the database cannot be reached \(.*does not support SSL/);
});
