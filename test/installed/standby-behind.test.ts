import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { anAgent, type BuiltAgent } from '../support/builders/agents.js';
import { type MovingAddress, movingAddress } from '../support/failover/address.js';
import { allReady, failoverScene, type FailoverScene } from '../support/failover/failover-scene.js';
import { anonymous, as, asRoot } from '../support/http/actors.js';
import { allSigned } from '../support/log/exports.js';
import { eventually } from '../support/running/eventually.js';
import { countersign, rotateRootKey } from '../support/servers/command-line.js';
import type { TestServer } from '../support/servers/server.js';
import { TEST_ENVIRONMENT, type Environment } from '../support/servers/test-run.js';

let scene: FailoverScene;
let wire: MovingAddress;
let agent: BuiltAgent;
let env: Environment;

beforeAll(async () => {
  scene = await failoverScene();
  wire = await movingAddress(scene.pair.primary.port);
  agent = await anAgent(scene.servers[0]).granted('web.search').create();
  env = {
    DATABASE_URL: scene.database.url, AUDIT_ANCHORS: scene.database.anchors, AUDIT_SIGNING_KEY: TEST_ENVIRONMENT.AUDIT_SIGNING_KEY!,
    ENCRYPTION_KEY: TEST_ENVIRONMENT.ENCRYPTION_KEY!, JWT_SECRET: TEST_ENVIRONMENT.JWT_SECRET!,
  };
}, 120_000);

afterAll(async () => {
  await scene?.stop();
  await wire?.close();
});

async function executed(n: number): Promise<string> {
  const reply = await agent.client.post('/api/v1/execute', { capability: 'web.search', input: { n } });
  return reply.expect(200).text('executionId');
}

async function held(server: TestServer): Promise<void> {
  const { body } = (await anonymous(server).get('/health/ready')).expect(503, 'UNAVAILABLE');
  expect(JSON.stringify(body)).toMatch(/standby.*countersign recover --accept-loss/);
  (await asRoot(server).get('/api/v1/agents')).expect(503, 'UNAVAILABLE');
}

test('an asynchronous standby that was behind and is promoted serves nobody, until its loss is accepted', async () => {
  const { pair, address, servers, database } = scene;
  await pair.addStandby('behind', wire.port);
  const there = await executed(1);
  await eventually(async () => {
    expect(await pair.standby.query('select pg_last_wal_replay_lsn() >= $1::pg_lsn as caught', [
      (await pair.primary.query<{ lsn: string }>('select pg_current_wal_lsn() as lsn'))[0]!.lsn])).toEqual([{ caught: true }]);
  });
  wire.move(undefined);
  const lost = await Promise.all([2, 3, 4].map(executed));
  await allSigned(servers[0]);
  await eventually(async () => {
    const [row] = await database.sql<{ missing: string }>(`select count(*) as missing from audit_checkpoints c
      where organization_id = 'platform' and size > (select min(size) from audit_anchors)`);
    expect(row!.missing).toBe('0');
  });

  await pair.primary.kill();
  await pair.exchange();
  address.move(pair.primary.port);
  for (let look = 0; look < 6; look++) {
    for (const server of servers) await eventually(() => held(server), { within: 20_000 });
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  expect(await database.sql('select id from executions order by id')).toEqual([{ id: there }]);

  const shown = await countersign(['recover'], env);
  expect([shown.code, shown.stdout]).toEqual([1, expect.stringMatching(/has a checkpoint of \d+ rounds.*this database has \d+/)]);
  expect((await countersign(['recover', '--accept-loss'], env)).code).toBe(0);
  const key = await rotateRootKey(database.url);
  await allReady(servers);
  const token = (await as(servers[0], key).post(`/api/v1/agents/${agent.id}/token`)).expect(200).text('token');
  (await as(servers[1], token).post('/api/v1/execute', { capability: 'web.search', input: { n: 5 } })).expect(200);
  const kept = (await database.sql<{ id: string }>('select id from executions')).map(({ id }) => id);
  expect(kept.filter((id) => lost.includes(id))).toEqual([]);
  await allSigned(servers[0]);
  const verified = await countersign(['audit', 'verify', '--no-remember', '--json'], env);
  expect([verified.code, JSON.parse(verified.stdout)]).toEqual([0, expect.objectContaining({ valid: true })]);
}, 120_000);
