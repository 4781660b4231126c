import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { aDecidedLog, type DecidedLog } from '../../support/memory/decided-log.js';
import { delegatedInFull } from '../../support/memory/delegated-log.js';
import { type Receiver, startReceiver } from '../../support/http/receiver.js';
import { verifiedLog } from '../../support/log/verified-log.js';
import { startServer, type TestServer } from '../../support/servers/server.js';

let server: TestServer;
let receiver: Receiver;
let story: DecidedLog;

beforeAll(async () => {
  receiver = await startReceiver();
  server = await startServer({ env: { OUTBOUND_ALLOW: receiver.destination } });
  story = await aDecidedLog(server, receiver);
  await delegatedInFull(server, story);
});
afterAll(async () => {
  await server.stop();
  await receiver.close();
});

test('every decision over a chain is replayed, for the whole log and for one agent', async () => {
  const found = await verifiedLog(server.database.url);
  expect(found.breaks).toEqual([]);
  expect(found.members).toMatchObject({ completeness: { breaks: 0 }, replay: { wrong: 0, notReplayable: {} } });
  const rows = await server.sql<{ id: string; decisions: number }>(`select chain as id, count(*)::integer as decisions from audit_entries
    where payload like '%"delegators"%' and event in ('execution.started', 'execution.blocked', 'hitl.created', 'hitl.approved')
    group by chain`);
  expect(rows.reduce((sum, { decisions }) => sum + decisions, 0)).toBeGreaterThan(12);
  for (const { id, decisions } of rows) {
    const one = await verifiedLog(server.database.url, id);
    expect(one.breaks).toEqual([]);
    expect((one.members['replay'] as { right: number }).right).toBeGreaterThanOrEqual(decisions);
  }
});
