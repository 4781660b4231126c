import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { organizationChain } from '../../../src/domain/audit/entry/chain.js';
import type { PreparedEntry, RecordedEvent } from '../../../src/domain/audit/entry/prepare-entry.js';
import { signingKey, signNote } from '../../../src/domain/audit/notes/note.js';
import { authorizationText, statementIn } from '../../../src/domain/audit/notes/authorization-note.js';
import { sortedBlanks } from '../../../src/domain/audit/erasure/search-entry.js';
import { metadataOf } from '../../../src/domain/audit/entry/payload.js';
import { newId } from '../../../src/domain/ids.js';
import { DirectoryArchive } from '../../../src/modules/audit/retention/archives/directory-archive.js';
import { ArchivedDisclosures, type ArchivedEntry } from '../../../src/modules/audit/retention/archives/archived-disclosures.js';
import { rotateSigningKey } from '../../../src/modules/audit/keys/rotate-signing-key.js';
import { as, asRoot } from '../../support/http/actors.js';
import { appendEntriesPast } from '../../support/log/append-past.js';
import { anAgent, type BuiltAgent } from '../../support/builders/agents.js';
import { countersign } from '../../support/servers/command-line.js';
import { blank, blankedOf } from '../../support/erasure/erased-by-hand.js';
import { erased, erasuresOf, verification } from '../../support/erasure/erasures.js';
import { allSigned, download, verifierKeyOf, verifyBytes } from '../../support/log/exports.js';
import { forge } from '../../support/log/forged-entry.js';
import { anOrganization, aPerson } from '../../support/builders/people.js';
import { aged, archiveFolder, sweepOutcomes, verifiedArchives } from '../../support/retention/retention.js';
import { startServer, type TestServer } from '../../support/servers/server.js';
import { stamped } from '../../support/tampering/every-event.js';
import { Random } from '../../support/tampering/random.js';
import { ROOT_KEY, runFolder, TEST_ENVIRONMENT } from '../../support/servers/test-run.js';

// Whoever owns the database, and has not the signing key, makes the log say that values were erased, and blanks them.

const PRESENT = TEST_ENVIRONMENT['AUDIT_SIGNING_KEY']!;

let server: TestServer;
let archive: string;

beforeAll(async () => {
  archive = await archiveFolder();
  server = await startServer({ env: { AUDIT_CHECKPOINT_SECONDS: '1', AUDIT_ARCHIVE: archive } });
});
afterAll(() => server.stop());

interface Scene {
  readonly organizationId: string;
  readonly agent: BuiltAgent;
  readonly customer: string;
}

async function works({ agent, customer }: Scene, times = 2): Promise<void> {
  for (let i = 0; i < times; i++) {
    (await agent.client.post('/api/v1/execute', { capability: 'web.search', input: { to: customer, n: i } })).expect(200);
  }
}

/** An organization in whose entries a customer stands, all of them signed. */
async function aScene(): Promise<Scene> {
  const organizationId = await anOrganization(server);
  const agent = await anAgent(server).inOrganization(organizationId).granted('web.search').create();
  const scene = { organizationId, agent, customer: `Grace Hopper-${randomBytes(4).toString('hex')}` };
  await works(scene);
  await allSigned(server);
  return scene;
}

/** As an administrator asks for it. */
async function reallyErased({ organizationId, customer }: Scene, at = server): Promise<void> {
  const admin = await aPerson(at, 'admin', { organizationId });
  const asked = await as(at, admin.key).post('/api/v1/audit/erasures', { values: [customer], reason: 'they asked' });
  expect([200, 202]).toContain(asked.status);
  await erased(at);
  expect((await erasuresOf(admin.client))[0]).toMatchObject({ state: 'done' });
  await allSigned(at);
}

interface Row {
  readonly id: string;
  readonly hash: string;
  readonly disclosures: string;
}
interface Forged {
  readonly entry: PreparedEntry;
  readonly blanked: Row;
}
type NoteOf = (entry: PreparedEntry) => Promise<string | undefined>;

const firstCall = async ({ agent }: Scene) => (await server.sql<Row>(
  `select id, hash, disclosures from audit_entries where chain = $1 and event = 'execution.started' order by seq limit 1`, [agent.id]))[0]!;

/** All values of an entry are blank, and an entry lists them, as the real one would: by the functions that the server has. */
async function forged(scene: Scene, noteOf: NoteOf, row?: Row): Promise<Forged> {
  const { organizationId } = scene;
  const blanked = row ?? (await firstCall(scene));
  const { id, disclosures } = blanked;
  const metadata = { erasureId: 'ers_forged', erased: sortedBlanks(blankedOf(blanked)) };
  const entry = stamped(organizationChain(organizationId), { type: 'gdpr.erasure_executed', metadata }, new Random('forged'));
  const note = await noteOf(entry);
  await appendEntriesPast(server.database, entry);
  if (note !== undefined) {
    await server.sql('insert into audit_erasure_notes (organization_id, entry_id, note) values ($1, $2, $3)',
      [organizationId, entry.id, note]);
  }
  await server.sql('select erase_disclosures_v1($1, $2, $3, $4)', [organizationId, [id], [disclosures], [blank(disclosures)]]);
  await allSigned(server);
  return { entry, blanked };
}

const instance = async () => (await server.sql<{ name: string }>('select name from instance'))[0]!.name;
const signedBy = (seed: string): NoteOf => async (entry) =>
  signNote(authorizationText('erasure', await instance(), entry.organizationId, statementIn(entry)), [signingKey(await instance(), seed)]);
const none: NoteOf = () => Promise.resolve(undefined);

interface Reported {
  readonly code: number | null;
  readonly verdict: string;
  readonly breaks: readonly { readonly kind: string; readonly chain: string; readonly detail: string }[];
}
const command = async (...words: string[]): Promise<Reported> => {
  const { code, stdout, stderr } = await countersign(['audit', 'verify', '--json', ...words]);
  if (stdout === '') throw new Error(stderr);
  return { code, ...(JSON.parse(stdout) as Omit<Reported, 'code'>) };
};
const ofDatabase = (...words: string[]) => command('--database-url', server.database.url, ...words);

/** What the export of an organization, or of everything, is found to be: by the verifier that shares no code, and by the command. */
async function ofFile(organizationId?: string, keys: readonly string[] = []) {
  const query = organizationId === undefined ? '' : `?organization_id=${organizationId}`;
  const { bytes } = await download(server, ROOT_KEY, `/api/v1/audit/export${query}`);
  const file = join(runFolder(), `forged-${randomBytes(4).toString('hex')}.jsonl`);
  await writeFile(file, bytes);
  const pinned = keys.flatMap((key) => ['--verifier-key', key]);
  return [await verifyBytes(bytes, keys), await command('--no-remember', '--file', file, ...pinned)] as const;
}

async function sound(): Promise<void> {
  expect(await ofDatabase('--no-remember')).toMatchObject({ code: 0, breaks: [] });
  expect(await verification(server)).toMatchObject({ valid: true, breaks: [] });
  for (const reported of await ofFile()) expect(reported).toMatchObject({ verdict: expect.stringMatching(/^valid/), breaks: [] });
  expect(await verifiedArchives(server.database, archive)).toMatchObject({ breaks: [] });
}

/** What hindered the sweep of an organization; of others nothing is asked. */
async function hindered({ organizationId }: Scene, env: Record<string, string> = {}): Promise<string | undefined> {
  const outcome = (await sweepOutcomes(server.database, archive, undefined, env)).find((one) => one.organizationId === organizationId);
  return outcome && 'failed' in outcome ? outcome.failed.message : undefined;
}

const isUnsigned = { kind: 'unauthorised_erasure', detail: expect.stringMatching(/says that values were erased/) };

/** With a server and a database of their own: what is done to the log stays in it. */
async function onItsOwn(work: () => Promise<void>): Promise<void> {
  const own = await startServer({ env: { AUDIT_CHECKPOINT_SECONDS: '1', AUDIT_ARCHIVE: archive } });
  const before = server;
  server = own;
  try {
    await work();
  } finally {
    server = before;
    await own.stop();
  }
}

test('what was signed of an erasure counts for its own entry, and for no copy in another name of another day', () => onItsOwn(async () => {
  const scene = await aScene();
  await reallyErased(scene);
  await sound();
  const { organizationId } = scene;
  const [real] = await server.sql<{ id: string; payload: string; note: string }>(
    `select e.id, e.payload, n.note from audit_entries e join audit_erasure_notes n on n.entry_id = e.id where e.organization_id = $1`,
    [organizationId]);
  const event = { type: 'gdpr.erasure_executed', metadata: metadataOf(real!.payload), chain: organizationChain(organizationId) };
  const copy = { id: newId('audit'), actorId: 'usr_innocent', timestamp: new Date(Date.now() - 100 * 86_400_000) };
  await forge(server.database, [event as unknown as RecordedEvent, copy]);
  await server.sql('insert into audit_erasure_notes (organization_id, entry_id, note) values ($1, $2, $3)',
    [organizationId, copy.id, real!.note]);
  await allSigned(server);
  const found = { breaks: [expect.objectContaining({ ...isUnsigned, chain: `sys_${organizationId}`, entryId: copy.id })] };
  expect(await verification(server)).toMatchObject({ valid: false, ...found });
  expect(await ofDatabase('--no-remember')).toMatchObject({ code: 1, ...found });
  for (const reported of await ofFile(organizationId, [await verifierKeyOf(server)])) {
    expect(reported).toMatchObject({ verdict: 'tampered', ...found });
  }
}));

test('neither an erasure nor a sweep makes what somebody else has appended its own; archives do not count it', () => onItsOwn(async () => {
  const [scene, blankOnly, archived] = [await aScene(), await aScene(), await aScene()];
  const { entry } = await forged(scene, none);
  await reallyErased(scene);
  const kept = await server.sql<{ id: string }>('select entry_id as id from audit_erasure_notes where organization_id = $1',
    [scene.organizationId]);
  expect(kept).toHaveLength(1);
  expect(kept[0]!.id).not.toBe(entry.id);
  expect((await ofDatabase('--no-remember')).breaks).toContainEqual(expect.objectContaining({ ...isUnsigned, chain: entry.chain }));

  // Blanked, with no entry at all that lists it.
  const gone = await firstCall(archived);
  const { id, disclosures } = await firstCall(blankOnly);
  await server.sql('select erase_disclosures_v1($1, $2, $3, $4)',
    [blankOnly.organizationId, [id], [disclosures], [blank(disclosures)]]);
  await aged(server.database);
  expect(await hindered(scene)).toMatch(/says that values were erased, and no key that counts has signed it/);
  expect(await hindered(blankOnly)).toMatch(/lost a value that no erasure entry that is signed accounts for/);
  expect(await hindered(archived)).toBeUndefined();
  const left = ({ agent }: Scene) => server.sql('select id from audit_entries where chain = $1', [agent.id]);
  for (const one of [scene, blankOnly]) expect(await left(one)).not.toEqual([]);
  expect(await left(archived)).toEqual([]);

  const [{ id: sweepId }] = (await server.sql<{ id: string }>('select id from audit_sweeps where organization_id = $1',
    [archived.organizationId])) as [{ id: string }];
  const values = new ArchivedDisclosures(new DirectoryArchive(archive));
  const change = ({ id: one, text }: ArchivedEntry) => (one === gone.id ? blank(text) : text);
  await values.rewrite(archived.organizationId, [sweepId], change, () => Promise.resolve());
  const unlisted = [expect.objectContaining({ kind: 'unauthorised_erasure', chain: archived.agent.id, entryId: gone.id })];
  const { entry: late } = await forged(archived, none, gone);
  expect((await verifiedArchives(server.database, archive)).breaks).toEqual(expect.arrayContaining(unlisted));
  await server.sql('insert into audit_erasure_notes (organization_id, entry_id, note) values ($1, $2, $3)',
    [late.organizationId, late.id, await signedBy(PRESENT)(late)]);
  expect(await verifiedArchives(server.database, archive)).toMatchObject({ breaks: [] });
}));

test('a rotation has the new key sign what stands; a server with the old one leaves erasures to others', async () => {
  const folder = await archiveFolder();
  const own = await startServer({ env: { AUDIT_CHECKPOINT_SECONDS: '1', AUDIT_ARCHIVE: folder } });
  const [before, archiveBefore] = [server, archive];
  [server, archive] = [own, folder];
  let replica: TestServer | undefined;
  try {
    const [scene, swept, later] = [await aScene(), await aScene(), await aScene()];
    await reallyErased(scene);
    await reallyErased(swept);
    await aged(server.database);
    // An erasure, then a sweep: the entry goes with what it lists, and its note into the archive.
    expect(await hindered(swept)).toBeUndefined();
    expect(await server.sql('select entry_id from audit_erasure_notes where organization_id = $1', [swept.organizationId])).toEqual([]);
    await sound();
    // The entry of that sweep goes in its turn: who believes its archive does so by the archive that holds the entry.
    await works(swept, 1);
    await aged(server.database);
    expect(await hindered(swept)).toBeUndefined();
    expect(await server.sql(`select id from audit_entries where organization_id = $1 and event = 'admin.audit_retention_sweep'`,
      [swept.organizationId])).toHaveLength(1);
    await sound();
    // A sweep, then an erasure.
    await reallyErased(later);
    await works(scene);
    await reallyErased(scene);
    await sound();
    const stays = await aScene();
    const unsigned = await forged(stays, none);

    const next = randomBytes(32).toString('base64');
    replica = await startServer({ replicaOf: server, env: { AUDIT_CHECKPOINT_SECONDS: '1', AUDIT_ARCHIVE: folder } });
    const { verifierKey } = await rotateSigningKey(server.database.url, { present: PRESENT, next });
    // Both have the old key now.
    const admin = await aPerson(server, 'admin', { organizationId: stays.organizationId });
    await works(stays, 1);
    const asked = await admin.client.post('/api/v1/audit/erasures', { values: [stays.customer], reason: 'they asked' });
    expect([200, 202]).toContain(asked.status);
    // The answer waits for what can be done at once.
    expect(asked.body).toMatchObject({ erasure: { state: 'running', counts: { values: 0 } } });
    await server.restart({ AUDIT_SIGNING_KEY: next });
    await erased(server);
    await allSigned(server);
    expect(await erasuresOf(asRoot(server))).not.toContainEqual(expect.objectContaining({ state: 'running' }));

    const found = await ofDatabase('--no-remember');
    expect(found.breaks).toEqual(expect.arrayContaining([expect.objectContaining({ ...isUnsigned, chain: unsigned.entry.chain })]));
    expect(found.breaks.filter(({ chain }) => chain !== unsigned.entry.chain && chain !== stays.agent.id)).toEqual([]);
    for (const one of await ofFile(scene.organizationId, [verifierKey])) expect(one).toMatchObject({ verdict: 'valid', breaks: [] });
    expect(await verifiedArchives(server.database, archive)).toMatchObject({ breaks: [] });
    const { entry } = await forged(await aScene(), signedBy(PRESENT));
    expect((await ofDatabase('--no-remember')).breaks).toContainEqual(expect.objectContaining({ ...isUnsigned, chain: entry.chain }));
    for (const one of await ofFile(entry.organizationId, [verifierKey])) expect(one).toMatchObject({ verdict: 'tampered' });
  } finally {
    [server, archive] = [before, archiveBefore];
    await replica?.stop();
    await own.stop();
  }
});
