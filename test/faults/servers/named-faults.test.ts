import { renameSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { anAgent } from '../../support/builders/agents.js';
import { anonymous, type Reply } from '../../support/http/actors.js';
import { eventually } from '../../support/running/eventually.js';
import { scrapedSeries, valueOf } from '../../support/running/scraped.js';
import { freePort } from '../../support/servers/server-process.js';
import { startServer, type TestServer } from '../../support/servers/server.js';
import { CHECKOUT } from '../../support/servers/test-run.js';

// Faults that no error of the database's names: each in log, readiness and metric, as the table of docs/runbooks.md says.
let server: TestServer;
let metricsUrl: string;

beforeEach(async () => {
  const port = await freePort();
  metricsUrl = `http://127.0.0.1:${port}`;
  server = await startServer({ ownProcess: true, env: { METRICS_PORT: String(port), AUDIT_CHECKPOINT_SECONDS: '1' } });
});
afterEach(() => server.stop());

const ready = (): Promise<Reply> => anonymous(server).get('/health/ready');
const metric = async (name: string) => valueOf(await scrapedSeries(metricsUrl), name);
const logged = (text: string): unknown[] =>
  server.output().split('\n').flatMap((line) => (line.includes(text) ? [JSON.parse(line)] : []));

test('a clock that is off, and one that is right again', async () => {
  await eventually(async () => expect(await metric('countersign_clock_skew_seconds')).toBeLessThan(2));
  const isOff = 'docs/runbooks.md#clock-off';
  expect(logged(isOff)).toEqual([]);
  const clock = join(CHECKOUT, 'test/support/servers/clock-ahead.cjs');
  await server.restart({ NODE_OPTIONS: `--require ${clock}`, TEST_CLOCK_AHEAD_SECONDS: '20' });
  await eventually(async () => expect(await metric('countersign_clock_skew_seconds')).toBeGreaterThan(15));
  const { body } = (await ready()).expect(503, 'UNAVAILABLE');
  expect(body).toMatchObject({ detail: expect.stringMatching(/^This server's clock differs from the database's by \d+ ms\.$/) });
  expect(logged(isOff)).toEqual([expect.objectContaining({ level: 'warn', skewMs: expect.any(Number) })]);
});

test('an anchor that cannot be written any more', async () => {
  await anAgent(server).create();
  const folder = server.database.anchors.slice('file:'.length);
  await eventually(() => renameSync(folder, `${folder}.away`));
  // Where nobody makes a file, root neither.
  symlinkSync('/proc/self', folder);
  await anAgent(server).create();
  await eventually(async () => expect(await metric('countersign_unanchored_seconds')).toBeGreaterThan(0));
  expect((await ready()).expect(200).number('unanchoredSeconds')).toBeGreaterThan(0);
  await eventually(() => expect(logged('docs/runbooks.md#anchor-unwritable')).toContainEqual(
    expect.objectContaining({ level: 'warn', anchor: server.database.anchors })));
});

test('an older schema under a server that runs', async () => {
  // As if a dump of before had been put back: what the newest migration but one brought is not there.
  await server.database.asSuperuser('drop table server_heartbeats');
  await eventually(async () => expect((await ready()).expect(503, 'UNAVAILABLE').at('detail')).toBe('The database cannot write.'));
  await eventually(async () => expect(await metric('countersign_database_write_age_seconds')).toBeGreaterThan(3));
  expect(logged('relation \\"server_heartbeats\\" does not exist')).not.toEqual([]);
});
