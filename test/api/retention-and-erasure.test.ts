import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { DirectoryArchive } from '../../src/modules/audit/sweeps/archive.directory.js';
import { ArchivedDisclosures } from '../../src/modules/audit/sweeps/archived-disclosures.js';
import { asRoot } from '../support/actors.js';
import { anAgent, type BuiltAgent } from '../support/builders.js';
import { blank, erasedByHand, type Erasing } from '../support/erased-by-hand.js';
import { aged, archiveFolder, brokenArchives, swept, verifiedArchives, verifiedWithArchives } from '../support/retention.js';
import { startServer, type TestServer } from '../support/server.js';
import { transferred, welcomed } from '../support/transfers.js';

jest.setTimeout(180_000);

let server: TestServer;
let archive: string;

beforeAll(async () => {
  server = await startServer({ env: { AUDIT_CHECKPOINT_SECONDS: '1' } });
  archive = await archiveFolder();
});
afterAll(() => server.stop());

async function worker(): Promise<BuiltAgent> {
  const agent = await anAgent(server).granted('web.search').create();
  (await agent.client.post('/api/v1/execute', { capability: 'web.search', input: { q: 'Ada Lovelace' } })).expect(200);
  return agent;
}

const valuesOf = (agent: BuiltAgent) => server.sql<Erasing & { organization_id: string } & Record<string, unknown>>(
  `select organization_id, id, hash, disclosures from audit_entries where chain = $1 and disclosures <> '[]' order by seq`, [agent.id]);

const left = (chain: string) => server.sql<{ event: string }>('select event from audit_entries where chain = $1 order by seq', [chain]);

test('an erasure stays as long as what it lists, and goes with it', async () => {
  const agent = await worker();
  const [entry] = await valuesOf(agent);
  await erasedByHand(server.database, entry!.organization_id, [entry!]);
  const erasures = () => server.sql(`select id from audit_entries where event = 'gdpr.erasure_executed'`);
  await aged(server.database);
  await swept(server.database, archive);
  expect(await left(agent.id)).toEqual([]);
  expect(await erasures()).toEqual([]);
  expect(await verifiedArchives(server.database, archive)).toMatchObject({ valid: true, breaks: [] });
  expect(await brokenArchives(archive)).toEqual([]);
});

test('what is erased after it was swept is blank in the archive, and listed in the log', async () => {
  const agent = await worker();
  const entries = await valuesOf(agent);
  await aged(server.database);
  await swept(server.database, archive);
  const hashes = new Set(entries.map(({ hash }) => hash));
  const disclosures = new ArchivedDisclosures(new DirectoryArchive(archive));
  const organizationId = entries[0]!.organization_id;
  const erase = () => disclosures.rewrite(organizationId, (hash, text) => (hashes.has(hash) ? blank(text) : text));
  expect(await erase()).toEqual({ objects: 1, entries: entries.length });
  expect(await verifiedArchives(server.database, archive)).toMatchObject({
    valid: false, breaks: expect.arrayContaining([expect.objectContaining({ kind: 'unauthorised_erasure', chain: agent.id })]),
  });
  await erasedByHand(server.database, organizationId, entries);
  expect(await verifiedArchives(server.database, archive)).toMatchObject({ valid: true, breaks: [] });
  expect(await brokenArchives(archive)).toEqual([]);
});

test('what is changed in an archive is found', async () => {
  const agent = await worker();
  const [entry] = await valuesOf(agent);
  await aged(server.database);
  await swept(server.database, archive);
  const store = new DirectoryArchive(archive);
  const disclosures = new ArchivedDisclosures(store);
  const change = (from: string, to: string) =>
    disclosures.rewrite(entry!.organization_id, (_hash, text) => text.replaceAll(from, to));
  await change('Ada Lovelace', 'Eve Lovelace');
  expect((await verifiedArchives(server.database, archive)).breaks.map(({ kind }) => kind)).toContain('archive_altered');
  const withLog = await verifiedWithArchives(server.database, archive);
  expect(withLog).toMatchObject({ verdict: 'tampered', archives: { breaks: withLog.archives!.breaks } });
  expect(withLog.breaks).toContainEqual(expect.objectContaining({ kind: 'archive_altered', chain: agent.id }));
  expect(await verifiedWithArchives(server.database, archive, '--agent', agent.id)).not.toHaveProperty('archives');
  await change('Eve Lovelace', 'Ada Lovelace');
  expect(await verifiedArchives(server.database, archive)).toMatchObject({ valid: true });
  expect((await verifiedWithArchives(server.database, archive)).breaks).toEqual([]);

  const names: string[] = [];
  for await (const name of store.list('')) if (name.endsWith('skeleton.jsonl.gz')) names.push(name);
  const lines: string[] = [];
  for await (const line of store.read(names.at(-1)!)) lines.push(line);
  const without = async function* () {
    for (const line of lines.filter((_line, n) => n !== lines.length - 2)) yield await Promise.resolve(line);
  };
  await store.replace(names.at(-1)!, without());
  expect((await verifiedArchives(server.database, archive)).breaks.map(({ kind }) => kind)).toContain('archive_altered');
  await store.discard(names.at(-1)!.split('/').slice(0, 2).join('/'));
  expect((await verifiedArchives(server.database, archive)).breaks.map(({ kind }) => kind)).toContain('archive_altered');
});

test('an agent that has left, and come back, is swept in each organization', async () => {
  const other = await anotherOrganization();
  const agent = await worker();
  const home = (await valuesOf(agent))[0]!.organization_id;
  (await transferred(server, agent, other)).expect(200);
  const there = await welcomed(server, agent);
  (await there.post('/api/v1/execute', { capability: 'web.search', input: { q: 'elsewhere' } })).expect(200);
  (await transferred(server, agent, home)).expect(200);
  await welcomed(server, agent);
  await aged(server.database);
  await swept(server.database, await archiveFolder(), '--at-once', '4');
  expect(await left(agent.id)).toEqual([]);
});

async function anotherOrganization(): Promise<string> {
  return (await asRoot(server).post('/api/v1/organizations', { name: 'Elsewhere' })).expect(201).text('organization.id');
}
