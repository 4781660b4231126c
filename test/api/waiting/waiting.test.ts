import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { asAgent, asRoot, type Reply } from '../../support/http/actors.js';
import { anAgent, type BuiltAgent } from '../../support/builders/agents.js';
import { eventually } from '../../support/running/eventually.js';
import { startServer, type TestServer } from '../../support/servers/server.js';

/** Shorter than a waiter's own look while news come in, so what is seen in this time was told and not looked for. */
const WAIT = 5;
const POOL = '5';

let here: TestServer;
let there: TestServer;
let agent: BuiltAgent;

beforeAll(async () => {
  here = await startServer({ env: { DATABASE_POOL_SIZE: POOL } });
  there = await startServer({ replicaOf: here, env: { DATABASE_POOL_SIZE: POOL } });
  agent = await anAgent(here).granted('email.send', { hitlMode: 'propose' }).create();
  await listening(2);
});
afterAll(async () => {
  await there.stop();
  await here.stop();
});

const ask = async (): Promise<Reply> => (await agent.client.post('/api/v1/execute', { capability: 'email.send' })).expect(202);
const approve = async (id: string) => (await asRoot(here).post(`/api/v1/hitl/${id}/approve`)).expect(200);
const waitThere = (path: string, wait = WAIT) => asAgent(there, agent.token).get(path, { query: { wait } });

/** Until so many servers listen for news: the first thing that each asks of that connection but for its setting. */
const listening = (servers: number) =>
  eventually(async () => {
    const rows = await here.sql(`select 1 from pg_stat_activity where datname = current_database() and application_name = 'countersign wake'
      and query <> '' and query not like 'set %'`);
    expect(rows).toHaveLength(servers);
  });

/** Until the calls are held: a waiter has looked once. */
const held = () => new Promise((resolve) => setTimeout(resolve, 500));

describe('whoever waits at another server', () => {
  test('is told of a decision', async () => {
    const asked = await ask();
    const request = waitThere(`/api/v1/hitl/${asked.text('hitlRequestId')}`);
    const execution = waitThere(`/api/v1/executions/${asked.text('executionId')}`);
    await held();
    await approve(asked.text('hitlRequestId'));
    expect((await request).expect(200).at('status')).toBe('approved');
    expect((await execution).expect(200).at('execution.status')).toBe('executed');
  });

  test('finds it by looking while news do not come in, and is told again afterwards', async () => {
    await here.sql(`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and application_name = 'countersign wake'`);
    const asked = await ask();
    const request = waitThere(`/api/v1/hitl/${asked.text('hitlRequestId')}`);
    await approve(asked.text('hitlRequestId'));
    expect((await request).expect(200).at('status')).toBe('approved');

    await listening(2);
    const next = await ask();
    const again = waitThere(`/api/v1/hitl/${next.text('hitlRequestId')}`);
    await held();
    await approve(next.text('hitlRequestId'));
    expect((await again).expect(200).at('status')).toBe('approved');
  });

  test('holds no connection of the database: sixty wait on a pool of five, and everything goes on', async () => {
    const asked = await ask();
    const path = `/api/v1/hitl/${asked.text('hitlRequestId')}`;
    const people = await Promise.all(Array.from({ length: 4 }, () => anAgent(here).create()));
    // Each principal may wait 64 times on a server; only the agent whose request it is may see it.
    const mine = Array.from({ length: 60 }, () => waitThere(path, 20));
    const others = people.flatMap(({ token, id }) =>
      Array.from({ length: 10 }, () => asAgent(there, token).get(`/api/v1/agents/${id}`)));
    for (const answer of await Promise.all(others)) answer.expect(200);
    const [row] = await here.sql<{ busy: number }>(`select count(*)::integer as busy from pg_stat_activity
      where datname = current_database() and state <> 'idle' and application_name = 'countersign'`);
    expect(row!.busy).toBeLessThan(10);
    await approve(asked.text('hitlRequestId'));
    for (const answer of await Promise.all(mine)) expect(answer.expect(200).at('status')).toBe('approved');
  });
});
