import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { anAgent, type BuiltAgent } from '../../support/builders/agents.js';
import {
  aged, archiveFolder, brokenArchives, liveLog, sweepCommand, swept, wholeLog, type SweptLine,
} from '../../support/retention/retention.js';
import { startServer, type TestServer } from '../../support/servers/server.js';

let server: TestServer;
let archive: string;
let agent: BuiltAgent;

beforeAll(async () => {
  server = await startServer({ env: { AUDIT_CHECKPOINT_SECONDS: '1' } });
  archive = await archiveFolder();
  agent = await anAgent(server).granted('web.search').create();
  await works(3);
  await aged(server.database);
  await swept(server.database, archive);
});
afterAll(() => server.stop());

async function works(times: number, by = agent): Promise<void> {
  for (let i = 0; i < times; i++) {
    (await by.client.post('/api/v1/execute', { capability: 'web.search', input: { q: `steel ${i}` } })).expect(200);
  }
}

test('a second sweep carries on what still binds', async () => {
  const other = await anAgent(server).granted('web.search').create();
  await works(2, other);
  await aged(server.database);
  const before = await wholeLog(server.database, archive);
  await swept(server.database, archive, 3);
  const union = await wholeLog(server.database, archive);
  expect(new Set(union.map(({ id }) => id)).size).toBe(union.length);
  expect(union.filter(({ id }) => before.some((one) => one.id === id))).toEqual(before);
  expect(await brokenArchives(archive)).toEqual([]);
  // Whoever says where a chain was cut is there, or is in no chain's way.
  const cutPoints = await server.sql<{ chain: string; there: boolean }>(
    `select distinct on (cut.chain, s.organization_id) cut.chain,
       exists (select from audit_entries e where e.id = cut."sweepEntryId") as there
     from audit_sweeps s cross join lateral json_to_recordset(s.cuts) as cut(chain text, "sweepEntryId" text)
     order by cut.chain, s.organization_id, s.made_at desc, s.id desc`);
  expect(cutPoints.length).toBeGreaterThan(2);
  expect(cutPoints.filter(({ there }) => !there)).toEqual([]);
});

test('a dry run counts what then goes, and not the cuts that are listed again', async () => {
  await works(1);
  await aged(server.database);
  const [begun] = await server.sql<{ now: Date }>('select clock_timestamp() as now');
  const { stdout } = await sweepCommand(server.database, archive, ['--dry-run', '--json']);
  const reported = stdout.trim().split('\n').map((line) => JSON.parse(line) as SweptLine).filter(({ entries }) => entries > 0);
  expect(reported.length).toBeGreaterThan(0);
  expect(await swept(server.database, archive)).toEqual(reported);
  const listed = await server.sql<{ id: string; cuts: number }>(
    `select organization_id as id, sum(json_array_length(cuts::json))::integer as cuts from audit_sweeps
     where made_at > $1 group by organization_id`, [begun!.now]);
  expect(listed.some(({ id, cuts }) => cuts > reported.find(({ organizationId }) => organizationId === id)!.chains)).toBe(true);
});

test('without a place to write to nothing is deleted', async () => {
  await works(2);
  await aged(server.database);
  const before = await liveLog(server.database);
  expect(await sweepCommand(server.database, `${archive}-not-there`)).toMatchObject({
    code: 2, stderr: `countersign audit sweep: the folder of archives (AUDIT_ARCHIVE) ${archive}-not-there is not there: mount it or, `
      + 'for a new one, make it\n',
  });
  expect(await liveLog(server.database)).toEqual(before);
  await swept(server.database, archive);
});
