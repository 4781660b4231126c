import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { organizationChain } from '../../../src/domain/audit/entry/chain.js';
import type { Disclosure } from '../../../src/domain/audit/entry/commitments.js';
import type { PreparedEntry } from '../../../src/domain/audit/entry/prepare-entry.js';
import { signingKey, signNote } from '../../../src/domain/audit/notes/note.js';
import { authorizationText, statementIn } from '../../../src/domain/audit/notes/authorization-note.js';
import { sortedBlanks } from '../../../src/domain/audit/erasure/search-entry.js';
import { as, asRoot } from '../../support/http/actors.js';
import { appendEntriesPast } from '../../support/log/append-past.js';
import { anAgent, type BuiltAgent } from '../../support/builders/agents.js';
import { countersign } from '../../support/servers/command-line.js';
import { blank, blankedOf } from '../../support/erasure/erased-by-hand.js';
import { erased, erasuresOf, verification } from '../../support/erasure/erasures.js';
import { allSigned, download, verifierKeyOf, verifyBytes } from '../../support/log/exports.js';
import { anOrganization, aPerson } from '../../support/builders/people.js';
import { archiveFolder, verifiedArchives } from '../../support/retention/retention.js';
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
const foreign = signedBy(randomBytes(32).toString('base64'));
const fromRealErasure: NoteOf = async () =>
  (await server.sql<{ note: string }>('select note from audit_erasure_notes order by organization_id limit 1'))[0]!.note;

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

const isUnsigned = { kind: 'unauthorised_erasure', detail: expect.stringMatching(/says that values were erased/) };

test('an erasure that no server carried out is found by server, command and file; a real one, and one with the key, is one', async () => {
  const remembered = join(runFolder(), `forged-erasures-${process.pid}.json`);
  await reallyErased(await aScene());
  const scenes = [await aScene(), await aScene(), await aScene(), await aScene()] as const;
  expect(await ofDatabase('--remember', remembered)).toMatchObject({ code: 0, verdict: 'valid' });
  await sound();

  const withKey = await forged(scenes[3], signedBy(PRESENT));
  expect(await ofDatabase('--remember', remembered)).toMatchObject({ code: 0, breaks: [] });
  await sound();

  const found: object[][] = [];
  for (const [n, noteOf] of [none, foreign, fromRealErasure].entries()) {
    const { organizationId, agent } = scenes[n]!;
    await forged(scenes[n]!, noteOf);
    found.push([
      expect.objectContaining({ ...isUnsigned, chain: `sys_${organizationId}` }),
      expect.objectContaining({ kind: 'unauthorised_erasure', chain: agent.id }),
    ]);
  }
  for (const words of [['--no-remember'], ['--remember', remembered]]) {
    const reported = await ofDatabase(...words);
    expect(reported).toMatchObject({ code: 1, verdict: 'tampered', breaks: expect.arrayContaining(found.flat()) });
    expect(reported.breaks).not.toContainEqual(expect.objectContaining({ chain: withKey.entry.chain }));
  }
  expect((await verification(server)).breaks).toEqual(expect.arrayContaining(found.flat()));
  for (const [n, { organizationId, agent }] of scenes.slice(0, 3).entries()) {
    expect((await ofDatabase('--no-remember', '--agent', agent.id)).breaks).toEqual(expect.arrayContaining(found[n]!));
    for (const reported of await ofFile(organizationId, [await verifierKeyOf(server)])) {
      expect(reported).toMatchObject({ verdict: 'tampered', breaks: expect.arrayContaining(found[n]!) });
    }
  }
});

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

/** What everybody who verifies says of an entry of an agent and of the log. */
async function expectTampered({ organizationId, agent }: Scene, wanted: object): Promise<void> {
  const found = { breaks: expect.arrayContaining([expect.objectContaining(wanted)]) };
  expect(await verification(server)).toMatchObject({ valid: false, ...found });
  expect(await ofDatabase('--no-remember')).toMatchObject({ code: 1, ...found });
  expect(await ofDatabase('--no-remember', '--agent', agent.id)).toMatchObject({ code: 1, ...found });
  for (const reported of await ofFile(organizationId, [await verifierKeyOf(server)])) {
    expect(reported).toMatchObject({ verdict: 'tampered', ...found });
  }
}

test('what a real erasure has left stays where it left it: under no other name, before no open value', () => onItsOwn(async () => {
  const scene = await aScene();
  const member = await aPerson(server, 'member', { organizationId: scene.organizationId });
  const context = { customer: scene.customer, on_behalf_of: member.id };
  await scene.agent.client.post('/api/v1/execute', { capability: 'web.search', input: { to: scene.customer, amount: 50_000 }, context });
  await allSigned(server);
  await reallyErased(scene);
  await sound();
  const [{ id, disclosures }] = (await server.sql<Row>(
    `select id, hash, disclosures from audit_entries where chain = $1 and event = 'execution.started' order by seq desc limit 1`,
    [scene.agent.id])) as [Row];
  const put = (text: string) =>
    server.database.asSuperuser(`update audit_entries set disclosures = $q$${text}$q$ where id = '${id}'`);
  const all = JSON.parse(disclosures) as Disclosure[];
  const moved = (from: string, to: string) => all.map((one) => (one.pointer === from ? { ...one, pointer: to } : one))
    .sort((a, b) => (a.pointer < b.pointer ? -1 : a.pointer > b.pointer ? 1 : a.erased ? 1 : -1));
  const isMoved = { kind: 'unauthorised_erasure', chain: scene.agent.id, entryId: id };
  const isHiding = { kind: 'edited', chain: scene.agent.id, entryId: id };
  for (const [from, to, wanted] of [
    ['/metadata/input/to', '/metadata/input/bribe', isMoved],
    ['/metadata/input/to', '/metadata/input/amount', isHiding],
    ['/metadata/context/customer', '/metadata/context/on_behalf_of', isHiding],
  ] as const) {
    await put(JSON.stringify(moved(from, to)));
    await expectTampered(scene, wanted);
  }
  await put(disclosures);
  await sound();
}));

test('a name that is found later goes from what is blank already, and its new place counts', () => onItsOwn(async () => {
  const scene = await aScene();
  const [other, address] = [`Ada Byron-${randomBytes(4).toString('hex')}`, `ada-${randomBytes(4).toString('hex')}@example.org`];
  const input = { [`for ${other}`]: address, [`of ${other}`]: 1, '[erased]': 'really', n: scene.customer };
  (await scene.agent.client.post('/api/v1/execute', { capability: 'web.search', input })).expect(200);
  await allSigned(server);
  const last = async () => (await server.sql<Row>(
    `select id, hash, disclosures from audit_entries where chain = $1 and event = 'execution.started' order by seq desc limit 1`,
    [scene.agent.id]))[0]!;
  await reallyErased({ ...scene, customer: address });
  const { id, disclosures: first } = await last();
  expect(first).toContain(other);
  await sound();
  await reallyErased({ ...scene, customer: other });
  await reallyErased(scene);
  const { disclosures } = await last();
  const left = (JSON.parse(disclosures) as Disclosure[]).filter(({ pointer }) => pointer.startsWith('/metadata/input/'));
  expect(left.map(({ pointer, erased: isErased }) => [pointer.split('/')[3], isErased])).toEqual(
    [['[erased]', undefined], ['[erased] 2', true], ['[erased] 3', true], ['n', true]]);
  expect((await asRoot(server).get(`/api/v1/audit/${id}`)).expect(200).at('metadata.input')).toEqual(
    { '[erased]': 'really', '[erased] 2': '[erased]', '[erased] 3': '[erased]', n: '[erased]' });
  await sound();
  await server.database.asSuperuser(`update audit_entries set disclosures = $q$${disclosures.replace('[erased] 2', '[erased] 1')}$q$
    where id = '${id}'`);
  await expectTampered(scene, { kind: 'unauthorised_erasure', chain: scene.agent.id, entryId: id });
}));

test('an honest erasure vouches for no name under which somebody has put a value', () => onItsOwn(async () => {
  const scene = await aScene();
  const { id, disclosures } = await firstCall(scene);
  const moved = disclosures.replace('/metadata/input/to', '/metadata/input/o');
  await server.database.asSuperuser(`update audit_entries set disclosures = $q$${moved}$q$ where id = '${id}'`);
  await reallyErased(scene);
  expect((await firstCall(scene)).disclosures).toContain(scene.customer);
  expect((await erasuresOf(asRoot(server)))[0]!.counts.unreadable).toBeGreaterThan(0);
  await expectTampered(scene, { kind: 'edited', chain: scene.agent.id, entryId: id });
}));
