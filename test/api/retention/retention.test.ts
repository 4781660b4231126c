import { rm } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { asRoot } from '../../support/http/actors.js';
import { anAgent, type BuiltAgent } from '../../support/builders/agents.js';
import { objectsIn } from '../../support/retention/archive-objects.js';
import {
  aged, archiveFolder, archivedLog, brokenArchives, liveLog, sweepCommand, swept, wholeLog,
} from '../../support/retention/retention.js';
import { startServer, type TestServer } from '../../support/servers/server.js';

let server: TestServer;
let archive: string;
let agent: BuiltAgent;

beforeAll(async () => {
  server = await startServer({ env: { AUDIT_CHECKPOINT_SECONDS: '1' } });
  archive = await archiveFolder();
  agent = await anAgent(server).granted('web.search').create();
});
afterAll(() => server.stop());

async function works(times: number, by = agent): Promise<void> {
  for (let i = 0; i < times; i++) {
    (await by.client.post('/api/v1/execute', { capability: 'web.search', input: { q: `steel ${i}` } })).expect(200);
  }
}

test('what is young stays', async () => {
  await works(3);
  expect(await swept(server.database, archive)).toEqual([]);
  expect(await objectsIn(archive)).toEqual([]);
});

test('what is old goes to the archive, whole, and the rest goes on from there', async () => {
  await works(5);
  await aged(server.database);
  const before = await liveLog(server.database);
  const dry = await sweepCommand(server.database, archive, ['--dry-run']);
  expect(dry).toMatchObject({ code: 0, stdout: expect.stringMatching(/would go first: \d+ entries of \d+ chains/) });
  expect(await liveLog(server.database)).toEqual(before);

  await swept(server.database, archive);
  const left = await liveLog(server.database);
  const events = await server.sql<{ event: string }>('select distinct event from audit_entries');
  expect(events.map(({ event }) => event)).toEqual(['admin.audit_retention_sweep']);
  expect(await archivedLog(archive)).toHaveLength(before.length);
  const union = await wholeLog(server.database, archive);
  expect(new Set(union.map(({ id }) => id)).size).toBe(union.length);
  expect(union.filter(({ id }) => !left.some((one) => one.id === id))).toEqual(before);
  expect(await brokenArchives(archive)).toEqual([]);
  expect(await server.sql(`select state, count(*)::integer from audit_sweeps group by state`)).toEqual([{ state: 'done', count: 2 }]);
  expect(await server.sql(`select s.* from audit_subjects s where not exists (
    select from audit_entries e where e.organization_id = s.organization_id and e.id = s.entry_id)`)).toEqual([]);

  // A swept entry is not there, for anybody.
  for (const path of ['', '/proof']) (await asRoot(server).get(`/api/v1/audit/${before[0]!.id}${path}`)).expect(404);
  await works(1);
  const { chain, seq, hash } = before.filter((one) => one.chain === agent.id).at(-1)!;
  const [next] = await server.sql<{ prev_hash: string; seq: string }>(
    'select seq, prev_hash from audit_entries where chain = $1 order by seq limit 1', [chain]);
  expect(next).toEqual({ seq: String(seq + 1), prev_hash: hash });
});

test('an open request keeps its entries, and all that stand behind them', async () => {
  const asking = await anAgent(server).granted('email.send', { hitlMode: 'propose' }).create();
  const asked = await asking.client.post('/api/v1/execute', { capability: 'email.send', input: { to: 'a@example.org' } });
  const id = asked.expect(202).text('hitlRequestId');
  await aged(server.database);
  await swept(server.database, archive);
  const kept = () => server.sql<{ event: string }>('select event from audit_entries where chain = $1 order by seq', [asking.id]);
  expect((await kept()).map(({ event }) => event)[0]).toBe('hitl.created');
  (await asRoot(server).post(`/api/v1/hitl/${id}/reject`, { comment: 'no' })).expect(200);
  await aged(server.database);
  await swept(server.database, archive);
  expect(await kept()).toEqual([]);
  expect(await brokenArchives(archive)).toEqual([]);
});

test('what was changed is not swept', async () => {
  const victim = await anAgent(server).granted('web.search').create();
  await works(2, victim);
  await aged(server.database);
  await server.database.asSuperuser(
    `update audit_entries set payload = replace(payload, 'executed', 'failure')
     where chain = '${victim.id}' and event = 'execution.completed'`,
  );
  const kept = await server.sql('select id from audit_entries where chain = $1', [victim.id]);
  const objects = await objectsIn(archive);
  expect(await sweepCommand(server.database, archive)).toMatchObject({ code: 1, stderr: expect.stringContaining('nothing was deleted') });
  expect(await server.sql('select id from audit_entries where chain = $1', [victim.id])).toEqual(kept);
  expect((await objectsIn(archive)).length).toBeGreaterThanOrEqual(objects.length);
  expect(await server.sql(`select id from audit_sweeps where state in ('writing', 'verified')`)).toEqual([]);
  await rm(archive, { recursive: true });
});
