import { cp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { anAgent } from '../../support/builders/agents.js';
import { countersign } from '../../support/servers/command-line.js';
import { erased } from '../../support/erasure/erasures.js';
import { anOrganization, aPerson } from '../../support/builders/people.js';
import { aged, archiveFolder, swept, verifiedWithArchives } from '../../support/retention/retention.js';
import { startServer, type TestServer } from '../../support/servers/server.js';

const CUSTOMER = 'Katherine Johnson-1918';

let server: TestServer;
let root: string;
let organizationId: string;
/** Of the organization, oldest first. */
let sweeps: string[];

beforeAll(async () => {
  root = await archiveFolder();
  server = await startServer({ env: { AUDIT_CHECKPOINT_SECONDS: '1', AUDIT_ARCHIVE: root } });
  organizationId = await anOrganization(server);
  const admin = await aPerson(server, 'admin', { organizationId });
  const agent = await anAgent(server).inOrganization(organizationId).granted('web.search').create();
  const works = async (to: string) =>
    (await agent.client.post('/api/v1/execute', { capability: 'web.search', input: { to } })).expect(200);
  const sweep = async () => {
    await aged(server.database);
    await swept(server.database, root, 6);
  };
  await works('someone');
  await works(CUSTOMER);
  await sweep();
  (await admin.client.post('/api/v1/audit/erasures', { values: [CUSTOMER], reason: 'they asked' })).expect(200);
  await erased(server);
  await works('someone else');
  await sweep();
  sweeps = (await server.sql<{ id: string }>('select id from audit_sweeps where organization_id = $1 order by made_at', [organizationId]))
    .map(({ id }) => id);
});

afterAll(() => server?.stop());

/** A copy of its own, to be changed. */
async function copy(): Promise<string> {
  const folder = join(await archiveFolder(), 'elsewhere');
  await cp(root, folder, { recursive: true });
  return folder;
}

/** Of these archives that which has this text in its values. */
async function holding(folder: string, text: string): Promise<string> {
  for (const sweep of sweeps) {
    const file = join(folder, organizationId, sweep, 'disclosures.jsonl.gz');
    const values = await readFile(file).then((bytes) => gunzipSync(bytes).toString(), () => '');
    if (values.includes(text)) return join(folder, organizationId, sweep);
  }
  throw new Error(`no archive has ${text}`);
}

async function change(file: string, edit: (text: string) => string): Promise<void> {
  const bytes = await readFile(file);
  const before = gunzipSync(bytes).toString();
  const after = edit(before);
  expect(after).not.toBe(before);
  await writeFile(file, gzipSync(after));
}

const changed = (file: string, edit: (text: string) => string) => (one: string) => change(join(one, file), edit);

/** By a command that opens a database: the archives of its log in this folder. */
const reported = (folder: string) => verifiedWithArchives(server.database, folder, '--integrity');
const altered = (detail: RegExp) => expect.objectContaining({ kind: 'archive_altered', detail: expect.stringMatching(detail) });

describe('archives with the database that they were taken from', () => {
  test('are as they were archived, but for what was erased', async () => {
    const { verdict, archives, breaks } = await reported(root);
    expect([verdict, breaks]).toEqual(['valid', []]);
    expect(archives!.checked).toBeGreaterThanOrEqual(sweeps.length);
  });

  test.each<[string, (one: string) => Promise<void>, RegExp]>([
    ['a value', changed('disclosures.jsonl.gz', (text) => text.replace('someone', 'Someone')),
      /archived entry \d+ .+ was changed after it was written: the value at .+ is not the one/],
    ['its skeleton', changed('skeleton.jsonl.gz', (text) => text.replace('"execution.', '"exeCution.')), /whose digest was recorded/],
    ['no values', (one) => rm(join(one, 'disclosures.jsonl.gz')), /cannot be read: ENOENT/],
    ['no skeleton', (one) => rm(join(one, 'skeleton.jsonl.gz')), /cannot be read: ENOENT/],
    ['nothing', (one) => rm(one, { recursive: true }), /cannot be read: ENOENT/],
  ])('%s', async (_name, edit, detail) => {
    const folder = await copy();
    await edit(await holding(folder, 'someone'));
    const { verdict, breaks } = await reported(folder);
    expect([verdict, breaks]).toEqual(['tampered', expect.arrayContaining([altered(detail)])]);
  });
});

test('a skeleton by itself is a file like any other', async () => {
  const verify = (file: string) =>
    countersign(['audit', 'verify', '--no-remember', '--json', '--file', file], { DATA_DIR: '/nowhere' });
  const folder = await copy();
  const skeleton = join(await holding(folder, 'someone'), 'skeleton.jsonl.gz');
  const { code, stdout } = await verify(skeleton);
  expect([code, JSON.parse(stdout)]).toEqual([0, expect.objectContaining({ valid: true, covers: 'archive' })]);
  await change(skeleton, (text) => text.replace('"execution.', '"exeCution.'));
  expect(await verify(skeleton)).toMatchObject({ code: 1 });
});
