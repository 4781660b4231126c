import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { asRoot, type Client, type Reply } from '../../support/http/actors.js';
import { anAgent, type BuiltAgent } from '../../support/builders/agents.js';
import { callLimit as calls, moveToTeam, wrongTotals } from '../../support/builders/counting-scenario.js';
import { eventually } from '../../support/running/eventually.js';
import { aTeam, firstOrganization } from '../../support/builders/people.js';
import { startServer, type TestServer } from '../../support/servers/server.js';

// Work that needs the usage rows of two grants takes that of the smaller id first: while somebody else has it, the other row is
// free. Taken in any other order, two such works over the same grants would wait for each other.

const LIMITS = [calls(5, 'block', 'total')];

let server: TestServer;
let root: Client;
let holder: pg.Client;

beforeAll(async () => {
  server = await startServer();
  root = asRoot(server);
  holder = new pg.Client({ connectionString: server.database.url });
  await holder.connect();
});
afterAll(async () => {
  await holder.end();
  await server.stop();
});

const ask = async ({ client }: BuiltAgent, capability: string) =>
  (await client.post('/api/v1/execute', { capability })).expect(202).text('hitlRequestId');
const grant = async (body: object) =>
  (await root.post('/api/v1/capabilities/grant', { hitlMode: 'propose', limits: LIMITS, ...body })).expect(201).text('grant.id');
const grantOf = async ({ id }: BuiltAgent, capability: string) => {
  const grants = (await root.get(`/api/v1/agents/${id}/capabilities`)).list('grants') as { id: string; capability: string }[];
  return grants.find((one) => one.capability === capability)!.id;
};

/** Does the work while somebody has the row of `smaller`, and looks at that of `greater` once the work waits. */
async function whileHeld(smaller: string, greater: string, work: () => Promise<Reply>): Promise<{ free: boolean; reply: Reply }> {
  expect(smaller < greater).toBe(true);
  await holder.query('begin');
  let working: Promise<Reply> | undefined;
  let free: boolean;
  try {
    await holder.query('select from grant_usage where grant_id = $1 for update', [smaller]);
    working = work();
    await eventually(async () => {
      // Asked over another connection: within one transaction the view shows what it showed first.
      expect(await server.sql(`select 1 from pg_stat_activity where datname = current_database()
        and wait_event_type = 'Lock' and query like '%grant_usage%'`)).toHaveLength(1);
    });
    free = (await holder.query('select from grant_usage where grant_id = $1 for update skip locked', [greater])).rowCount === 1;
  } finally {
    await holder.query('rollback');
  }
  return { free, reply: await working };
}

test('an agent\'s removal, whichever of its requests came first', async () => {
  const agent = await anAgent(server).granted('web.search', { hitlMode: 'propose', limits: LIMITS })
    .granted('file.read', { hitlMode: 'propose', limits: LIMITS }).create();
  const ofEach = [];
  for (const capability of ['web.search', 'file.read']) ofEach.push({ capability, id: await grantOf(agent, capability) });
  const [smaller, greater] = ofEach.sort((a, b) => (a.id < b.id ? -1 : 1));
  await ask(agent, greater!.capability);
  await ask(agent, smaller!.capability);
  const { free, reply } = await whileHeld(smaller!.id, greater!.id, () => root.delete(`/api/v1/agents/${agent.id}`));
  expect(free).toBe(true);
  reply.expect(204);
  expect(await server.sql('select amount::integer from grant_totals where grant_id = any ($1)', [[smaller!.id, greater!.id]]))
    .toEqual([{ amount: 0 }, { amount: 0 }]);
});

test('an approval under another grant than the request was made under', async () => {
  const agent = await anAgent(server).granted('web.search', { hitlMode: 'propose', limits: LIMITS }).create();
  const own = await grantOf(agent, 'web.search');
  const request = await ask(agent, 'web.search');
  const teamId = await aTeam(server, await firstOrganization(server));
  const shared = await grant({ teamId, capability: 'web.search' });
  await moveToTeam(server, [agent.id], teamId);
  (await root.delete(`/api/v1/capabilities/grant/${own}`)).expect(204);
  const { free, reply } = await whileHeld(own, shared, () => root.post(`/api/v1/hitl/${request}/approve`));
  expect(free).toBe(true);
  reply.expect(200);
  expect(await server.sql('select 1 from grant_uses where grant_id = $1', [shared])).toHaveLength(1);
  expect(await wrongTotals(server)).toEqual([]);
});
