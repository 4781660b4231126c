import { join } from 'node:path';
import { mkdtempSync } from 'node:fs';
import pg from 'pg';
import { anonymous } from '../http/actors.js';
import { eventually } from '../running/eventually.js';
import type { TestDatabase } from '../servers/database.js';
import { startServer, type TestServer } from '../servers/server.js';
import { runFolder } from '../servers/test-run.js';
import { movingAddress, type MovingAddress } from './address.js';
import { PostgresPair } from './postgres-pair.js';

/** Two servers on the database that an address leads to, and the two database servers that it may lead to. */
export interface FailoverScene {
  readonly pair: PostgresPair;
  readonly address: MovingAddress;
  readonly database: TestDatabase;
  readonly servers: readonly [TestServer, TestServer];
  stop(): Promise<void>;
}

export async function failoverScene(env: Readonly<Record<string, string>> = {}): Promise<FailoverScene> {
  const pair = await PostgresPair.start();
  const address = await movingAddress(pair.primary.port);
  const database = databaseAt(address);
  const settings = { replicaOf: { database }, env: { AUDIT_CHECKPOINT_SECONDS: '1', ...env } };
  const servers: TestServer[] = [];
  const stop = async () => {
    for (const server of servers) await server.stop();
    await address.close();
    await pair.stop();
  };
  try {
    for (let n = 0; n < 2; n++) servers.push(await startServer(settings));
    return { pair, address, database, servers: servers as unknown as readonly [TestServer, TestServer], stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

export async function allReady(servers: readonly TestServer[]): Promise<void> {
  await eventually(async () => {
    for (const server of servers) (await anonymous(server).get('/health/ready')).expect(200);
  }, { within: 60_000, every: 50 });
}

function databaseAt({ port }: MovingAddress): TestDatabase {
  const urlOf = (user: string) => `postgres://${user}@127.0.0.1:${port}/countersign_test`;
  const ask = async <Row extends pg.QueryResultRow>(user: string, statements: readonly string[], params: readonly unknown[] = []) => {
    const client = new pg.Client({ connectionString: urlOf(user) });
    client.on('error', () => undefined);
    await client.connect();
    try {
      let rows: Row[] = [];
      for (const statement of statements) ({ rows } = await client.query<Row>(statement, statements.length > 1 ? [] : [...params]));
      return rows;
    } finally {
      await client.end();
    }
  };
  return {
    url: urlOf('countersign'), name: 'countersign_test', superuserUrl: urlOf('postgres'),
    anchors: `file:${join(mkdtempSync(join(runFolder(), 'failover-')), 'anchors')}`,
    sql: (text, params) => ask('countersign', [text], params),
    asSuperuser: (...statements) => ask('postgres', statements),
    drop: () => Promise.resolve(),
  };
}
