import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { verifierKey } from '../../../src/domain/audit/notes/note.js';
import { asRoot } from '../../support/http/actors.js';
import { anAgent } from '../../support/builders/agents.js';
import { countersign } from '../../support/servers/command-line.js';
import { erased } from '../../support/erasure/erasures.js';
import { anOrganization, aPerson } from '../../support/builders/people.js';
import { aged, archiveFolder, swept } from '../../support/retention/retention.js';
import { startServer, type TestServer } from '../../support/servers/server.js';

const CUSTOMER = 'Katherine Johnson-1918';

interface Told {
  readonly valid: boolean;
  readonly covers: string;
  readonly withLog: boolean;
  readonly archives: number;
  readonly entries: number;
  readonly keys: readonly string[];
  readonly values: { readonly compared: number; readonly erased: number; readonly unaccounted: number };
  readonly breaks: readonly { readonly kind: string; readonly chain: string; readonly detail: string; readonly sweepId: string }[];
}

let server: TestServer;
let root: string;
let organizationId: string;
/** Of the organization, oldest first. */
let sweeps: string[];
let key: string;
/** What a sweep has archived before anything of it was erased, and where what was erased is listed: in the log alone. */
let early: string;

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
  early = join(await archiveFolder(), 'copied');
  await cp(root, early, { recursive: true });
  await works('someone else');
  await sweep();
  sweeps = (await server.sql<{ id: string }>('select id from audit_sweeps where organization_id = $1 order by made_at', [organizationId]))
    .map(({ id }) => id);
  key = (await asRoot(server).get('/api/v1/audit/keys')).expect(200).text('keys.0');
});

afterAll(() => server?.stop());

/** A copy of its own, to be changed. */
async function copy(from = root): Promise<string> {
  const folder = join(await archiveFolder(), 'elsewhere');
  await cp(from, folder, { recursive: true });
  return folder;
}

/** No .countersign of whoever runs the tests. */
const NO_DATABASE = { DATA_DIR: '/nowhere' };

async function told(
  folder: string, words: readonly string[] = [], env: Record<string, string> = {},
): Promise<Told & { code: number | null }> {
  const { code, stdout, stderr } = await countersign(['audit', 'verify-archive', folder, '--json', ...words], { ...NO_DATABASE, ...env });
  if (stdout === '') throw new Error(stderr);
  return { ...(JSON.parse(stdout) as Told), code };
}

const said = (folder: string, ...words: string[]) => countersign(['audit', 'verify-archive', folder, ...words], NO_DATABASE);

/** Of these archives that which has this text in its values. */
async function holding(folder: string, text: string): Promise<string> {
  for (const sweep of sweeps) {
    const file = join(folder, organizationId, sweep, 'disclosures.jsonl.gz');
    const values = await readFile(file).then((bytes) => gunzipSync(bytes).toString(), () => '');
    if (values.includes(text)) return join(folder, organizationId, sweep);
  }
  throw new Error(`no archive has ${text}`);
}

async function change(file: string, deed: (text: string) => string): Promise<void> {
  const bytes = await readFile(file);
  const isPacked = file.endsWith('.gz');
  const [before, after] = [(isPacked ? gunzipSync(bytes) : bytes).toString(), deed((isPacked ? gunzipSync(bytes) : bytes).toString())];
  expect(after).not.toBe(before);
  await writeFile(file, isPacked ? gzipSync(after) : after);
}

const altered = (detail: RegExp) => expect.objectContaining({ kind: 'archive_altered', detail: expect.stringMatching(detail) });

/** The first digit of a digest in a manifest is another one. */
const otherDigest = (name: string) => (text: string) =>
  text.replace(new RegExp(`(?<="${name}":\\{[^}]*"sha256":")[0-9a-f]`), (digit) => (digit === '0' ? '1' : '0'));
const changed = (file: string, deed: (text: string) => string) => (one: string) => change(join(one, file), deed);

describe('without any database', () => {
  test('all archives, those of one organization, and one by itself, whatever its folder is called', async () => {
    const folder = await copy();
    const all = await told(folder);
    expect(all).toMatchObject({ code: 0, valid: true, covers: 'all', withLog: false, breaks: [], keys: [key] });
    expect(all.values).toMatchObject({ compared: expect.any(Number), unaccounted: 0 });
    expect(all.values.erased).toBeGreaterThan(0);
    const organization = await told(join(folder, organizationId));
    expect(organization).toMatchObject({ code: 0, covers: 'organization', archives: sweeps.length, values: { unaccounted: 0 } });
    expect(organization.archives).toBeLessThan(all.archives);
    const one = join(await archiveFolder(), 'renamed');
    await cp(join(folder, organizationId, sweeps[0]!), one, { recursive: true });
    const alone = await told(one);
    expect(alone).toMatchObject({ code: 0, covers: 'sweep', archives: 1, breaks: [] });
    expect(alone.entries).toBeLessThan(organization.entries);
  });

  test('it is said what was compared, what was not, and whose key was believed', async () => {
    const { code, stdout } = await said(await holding(root, 'someone'));
    expect(code).toBe(0);
    expect(stdout).toMatch(/^AS IT WAS SWEPT: 1 archive, \d+ entries\.\n {2}One sweep's archive\. Of other sweeps nothing is said\.\n/);
    expect(stdout).toMatch(/Compared: \d+ values with what their entries commit to/);
    expect(stdout).toContain('Not compared with the log');
    expect(stdout).toContain(`Key ${key} (the archive says so`);
    expect((await said(root, '--verifier-key', key)).stdout).toContain(`Key ${key}\n`);
    // Before the folder, too: an option takes one word.
    const before = await countersign(['audit', 'verify-archive', '--verifier-key', key, '--verifier-key', key, root], NO_DATABASE);
    expect(before).toMatchObject({ code: 0, stdout: expect.stringContaining(`Key ${key}\n`) });
  });

  test('a value that was changed, at whatever folder one looks', async () => {
    const folder = await copy();
    const one = await holding(folder, 'someone');
    await change(join(one, 'disclosures.jsonl.gz'), (text) => text.replace('someone', 'Someone'));
    for (const place of [folder, join(folder, organizationId), one]) {
      const { code, breaks } = await told(place);
      expect(code).toBe(1);
      expect(breaks).toEqual([altered(/^archived entry \d+ .+ was changed after it was written: the value at .+ is not the one/)]);
    }
    expect(await said(one)).toMatchObject({ code: 1, stdout: expect.stringMatching(/^ALTERED: 1 archive/) });
  });

  test.each<[string, (one: string) => Promise<void>, RegExp]>([
    ['its skeleton', changed('skeleton.jsonl.gz', (text) => text.replace('"execution.', '"exeCution.')), /whose digest was recorded/],
    ['the digest in its manifest', changed('manifest.json', otherDigest('skeleton')), /whose digest was recorded/],
    ['the digest of its values', changed('manifest.json', otherDigest('disclosures')), /other values than were archived/],
    ['a chain in its manifest', changed('manifest.json', (text) => text.replace(/"seq":(\d+)/, '"seq":9$1')), /not the last one/],
    ['the note in its manifest', changed('manifest.json', (text) => text.replace('— ', '—  ')), /whose note stands beside it/],
    ['no manifest', (one) => rm(join(one, 'manifest.json')), /has no manifest that can be read/],
    ['a manifest of nothing', (one) => writeFile(join(one, 'manifest.json'), '{"v":1}'), /has no manifest that can be read/],
    ['no values', (one) => rm(join(one, 'disclosures.jsonl.gz')), /cannot be read: ENOENT/],
    ['no skeleton', (one) => rm(join(one, 'skeleton.jsonl.gz')), /cannot be read: ENOENT/],
  ])('%s', async (_name, deed, detail) => {
    const one = await holding(await copy(early), 'someone');
    await deed(one);
    const { code, breaks } = await told(one);
    expect([code, breaks]).toEqual([1, expect.arrayContaining([altered(detail)])]);
  });

  test('an archive that is missing between others; by itself each is as it was', async () => {
    const folder = await copy();
    const gone = join(folder, organizationId, sweeps[1]!);
    await rm(gone, { recursive: true });
    expect(await told(join(folder, organizationId))).toMatchObject({ code: 1, archives: sweeps.length - 1 });
    expect((await told(join(folder, organizationId))).breaks).toEqual(expect.arrayContaining([
      altered(/does not continue what the archive before it holds/), altered(new RegExp(`${sweeps[1]!}, which is not here`)),
    ]));
    for (const sweep of await readdir(join(folder, organizationId))) {
      expect(await told(join(folder, organizationId, sweep))).toMatchObject({ code: 0 });
    }
  });

  test('a value that is gone, and whose erasure only the log knows: said, and not held against the archive', async () => {
    const folder = await copy(early);
    const { code, values, breaks } = await told(folder);
    expect([code, breaks]).toEqual([0, []]);
    expect(values.unaccounted).toBeGreaterThan(0);
    const { stdout } = await said(folder);
    expect(stdout).toMatch(/erased by nothing that was read: \d+ values?\. Whether they were erased since is unknown here/);
  });

  test('only a key that was given counts', async () => {
    const [name, , bytes] = key.split('+') as [string, string, string];
    expect(await told(root, ['--verifier-key', key])).toMatchObject({ code: 0, pinned: true, keys: [key] });
    const other = await told(root, ['--verifier-key', verifierKey(name, Buffer.alloc(32, 9).toString('base64'))]);
    expect(other.code).toBe(1);
    expect(other.breaks).toContainEqual(altered(/checkpoint/));
    const { code, stderr } = await said(root, '--verifier-key', `${name}+00000000+${bytes}`);
    expect([code, stderr]).toEqual([2, expect.stringMatching(/'--verifier-key <key>' argument .+ is invalid\. A verifier key is/)]);
  });

  test('a folder without any archive cannot be read', async () => {
    const empty = await archiveFolder();
    await mkdir(join(empty, 'a', 'b'), { recursive: true });
    const { code, stdout, stderr } = await said(empty);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain("give the folder of all archives, of one organization's, or of one sweep's");
    const isMissing = expect.stringMatching(/the folder \S+none cannot be read \(ENOENT\): give that of all archives/);
    expect(await said(join(empty, 'none'))).toMatchObject({ code: 2, stderr: isMissing });
  });
});

describe('with the database that they were taken from', () => {
  const database = () => ({ DATABASE_URL: server.database.url });

  test('at whatever folder one looks, the log is compared', async () => {
    const well = { code: 0, withLog: true, breaks: [], values: { unaccounted: 0 } };
    expect(await told(root, [], database())).toMatchObject({ ...well, covers: 'all' });
    const organization = await told(join(root, organizationId), [], database());
    expect(organization).toMatchObject({ ...well, covers: 'organization', archives: sweeps.length });
    for (const sweep of sweeps) {
      const one = await told(join(root, organizationId, sweep), [], database());
      expect(one).toMatchObject({ code: 0, withLog: true, covers: 'sweep', archives: 1, breaks: [] });
    }
    expect((await countersign(['audit', 'verify-archive', root], database())).stdout).toContain('Compared with the log of the database');
    expect(await told(root, ['--alone'], database())).toMatchObject({ code: 0, withLog: false });
  });

  test('what only the log tells: an erasure that it holds, and an archive at the end that is gone', async () => {
    expect(await told(early, ['--alone'])).toMatchObject({ code: 0, withLog: false });
    const folder = await copy();
    await rm(join(folder, organizationId, sweeps.at(-1)!), { recursive: true });
    expect(await told(join(folder, organizationId))).toMatchObject({ code: 0 });
    const { code, breaks } = await told(join(folder, organizationId), [], database());
    expect([code, breaks]).toEqual([1, expect.arrayContaining([altered(/cannot be read: it is not there/)])]);
  });

  test('an archive that this database has not recorded is not compared, and that is no verdict', async () => {
    const one = join(await copy(), organizationId, sweeps[0]!);
    await change(join(one, 'manifest.json'), (text) => text.replace(sweeps[0]!, `${sweeps[0]!.slice(0, -1)}_`));
    const { code, stdout, stderr } = await countersign(['audit', 'verify-archive', one], database());
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain('this database has not recorded the sweep');
  });
});
