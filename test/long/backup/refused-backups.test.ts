import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { aBackupPlace, backupOf, madeBackup, restored, SECRETS, type BackupPlace } from '../../support/backup/backups.js';
import { startCountersign } from '../../support/backup/killed-command.js';
import { unpacked } from '../../support/backup/unpacked.js';
import { anAgent } from '../../support/builders/agents.js';
import { allSigned } from '../../support/log/exports.js';
import { countersign } from '../../support/servers/command-line.js';
import { createTestDatabase, type TestDatabase } from '../../support/servers/database.js';
import { startServer, type TestServer } from '../../support/servers/server.js';

let server: TestServer;
let place: BackupPlace;
let file: string;
let empty: TestDatabase;

beforeAll(async () => {
  place = await aBackupPlace();
  server = await startServer({ env: { AUDIT_CHECKPOINT_SECONDS: '1' } });
  const { client } = await anAgent(server).granted('web.search').create();
  for (let n = 0; n < 20; n++) (await client.post('/api/v1/execute', { capability: 'web.search', input: { n } })).expect(200);
  await allSigned(server);
  file = await backupOf(server.database.url, place);
  empty = await createTestDatabase('empty');
});

afterAll(async () => {
  await empty?.drop();
  await server?.stop();
});

const objects = async () => (await empty.sql<{ n: number }>(
  `select (select count(*) from pg_class where relnamespace = 'public'::regnamespace)::integer
    + (select count(*) from pg_proc where pronamespace = 'public'::regnamespace)::integer as n`))[0]!.n;

describe('a restore is refused with the reason, and the database stays empty', () => {
  const refusedWith = async (backup: string, reason: string | RegExp, ...more: readonly string[]) => {
    const { code, stdout, stderr } = await restored(backup, empty.url, place, ...more);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(reason);
    expect(stderr.trim().split('\n')).toHaveLength(1);
    expect(await objects()).toBe(0);
  };
  const copied = (name: string, change: (bytes: Buffer) => Buffer | void) => {
    const bytes = readFileSync(file);
    const path = join(place.folder, name);
    writeFileSync(path, change(bytes) ?? bytes);
    return path;
  };

  test('another key, another passphrase, none', async () => {
    const other = await aBackupPlace();
    const words = ['restore', file, '--database-url', empty.url];
    const by = async (...more: string[]) => countersign([...words, ...more], place.env);
    expect(await by('--identity-file', other.identityFile)).toMatchObject({ code: 1, stderr: expect.stringContaining('does not open') });
    const passphrase = join(place.folder, 'passphrase');
    writeFileSync(passphrase, 'not the right one, surely\n');
    expect(await by('--passphrase-file', passphrase)).toMatchObject({ code: 1, stderr: expect.stringContaining('does not open') });
    // Wrong usage.
    expect(await by()).toMatchObject({ code: 2, stderr: expect.stringContaining('give --identity-file') });
    expect(await by('--identity-file', passphrase)).toMatchObject({ code: 2, stderr: expect.not.stringContaining('surely') });
    expect(await by('--identity-file', join(place.folder, 'none'))).toMatchObject({ code: 2, stderr: expect.stringContaining('ENOENT') });
    expect(await objects()).toBe(0);
  });

  test('a file that was cut, lengthened, altered, is empty, is none', async () => {
    await refusedWith(copied('cut.age', (bytes) => bytes.subarray(0, -1)), 'was altered, or is not whole');
    await refusedWith(copied('long.age', (bytes) => Buffer.concat([bytes, Buffer.from('x')])), 'was altered, or is not whole');
    await refusedWith(copied('flipped.age', (bytes) => void bytes.writeUInt8(bytes.at(-40)! ^ 1, bytes.length - 40)), 'was altered');
    await refusedWith(copied('empty.age', () => Buffer.alloc(0)), 'is no backup');
    await refusedWith(copied('text.age', () => Buffer.from('not a backup\n'.repeat(100))), 'is no backup');
    await refusedWith(join(place.folder, 'missing.age'), 'there is no');
    await refusedWith(place.folder, /cannot be read|altered/);
  });

  test('a newer form, a newer schema, rows that are not those of the manifest, tables and columns that are none', async () => {
    const files = await unpacked(file, place);
    const manifest = JSON.parse(files['manifest.json']!) as Manifest;
    const made = (name: string, members: object, more: Record<string, string> = {}) =>
      madeBackup({ ...files, ...more, 'manifest.json': JSON.stringify({ ...manifest, ...members }) }, place, name);
    await refusedWith(await made('form.age', { format: 2 }), 'has form 2, and this version reads form 1');
    await refusedWith(await made('schema.age', { version: '9.9.9', migrations: [...manifest.migrations, 'CreateLater20991121000100'] }),
      /made by version 9\.9\.9, whose schema this version does not know \(CreateLater20991121000100\)/);
    const agents = 'tables/agents/000001.copy';
    const changed = { [agents]: files[agents]!.replace('limited', 'minimal') };
    await refusedWith(await made('rows.age', {}, changed), 'not those that its manifest names');
    const renamed = manifest.tables.map((table) => (table.name === 'passkeys' ? { ...table, name: 'pg_authid' } : table));
    await refusedWith(await made('tables.age', { tables: renamed }), 'names tables or columns');
    const injected = manifest.tables.map((table) => (table.name === 'passkeys' ? { ...table, columns: ['id) from stdin; drop'] } : table));
    await refusedWith(await made('columns.age', { tables: injected }), 'manifest.json cannot be read');
    await refusedWith(await made('trees.age', { trees: manifest.trees.map((tree) => ({ ...tree, size: tree.size + 1 })) }), 'not the one');
    await refusedWith(await made('migrations.age', { migrations: manifest.migrations.slice(0, 3) }), 'names tables or columns');
    await refusedWith(await madeBackup({ 'manifest.json': '{}' }, place, 'little.age'), 'manifest.json cannot be read');
    await refusedWith(await madeBackup({ 'README.txt': 'x' }, place, 'other.age'), 'no backup of Countersign');
    const secrets = JSON.stringify({ ...SECRETS, AUDIT_SIGNING_KEY: Buffer.alloc(32, 7).toString('base64') });
    const forged = await made('secrets.age', {}, { 'secrets.json': secrets });
    const { code, stderr } = await countersign(
      ['restore', forged, '--identity-file', place.identityFile, '--database-url', empty.url, '--secrets-out', join(place.folder, 'env')],
      { DATA_DIR: join(place.folder, 'none') });
    expect([code, stderr]).toEqual([1, expect.stringContaining('AUDIT_SIGNING_KEY: is not the one')]);
    expect([await objects(), existsSync(join(place.folder, 'env'))]).toEqual([0, false]);
  });

  test('a log that was tampered with before, unless that is what is wanted', async () => {
    const tampered = await startServer({ env: { AUDIT_CHECKPOINT_SECONDS: '1' } });
    try {
      await anAgent(tampered).granted('web.search').create();
      await allSigned(tampered);
      await tampered.database.asSuperuser(
        `update audit_entries set payload = replace(payload, 'web.search', 'web.read') where event like 'capab%'`);
      const taken = await backupOf(tampered.database.url, place, 'tampered.age');
      await refusedWith(taken, /audit log in this backup was tampered with before it was made \(\d+ found/);
      const target = await createTestDatabase('empty');
      const { code, stdout } = await restored(taken, target.url, place, '--even-tampered');
      expect([code, JSON.parse(stdout)]).toEqual([0, expect.objectContaining({ verdict: 'tampered', held: true })]);
      await target.drop();
    } finally {
      await tampered.stop();
    }
  });

  test('a database with something in it stays as it is', async () => {
    const own = await createTestDatabase('empty');
    await own.sql('create table theirs (id integer)');
    expect(await restored(file, own.url, place)).toMatchObject({ code: 1, stderr: expect.stringContaining('not empty (theirs)') });
    expect(await own.sql('select count(*)::integer as n from theirs')).toEqual([{ n: 0 }]);
    await own.drop();
    expect(await restored(file, server.database.url, place)).toMatchObject({ code: 1, stderr: expect.stringContaining('not empty (') });
  });

  test('secrets that servers would not have, or have otherwise', async () => {
    const words = ['restore', file, '--identity-file', place.identityFile, '--database-url', empty.url];
    const bare = { DATA_DIR: join(place.folder, 'none') };
    const missing = await countersign(words, bare);
    expect([missing.code, missing.stderr]).toEqual([1, expect.stringContaining('give --secrets-out <file>')]);
    const other = await countersign(words, { ...bare, ...SECRETS, JWT_SECRET: 'x9'.repeat(8) + 'Zq_another-secret-altogether' });
    expect([other.code, other.stderr]).toEqual([1, expect.stringContaining('JWT_SECRET: is set to something else')]);
    expect(await objects()).toBe(0);
  });

  test('a process that is killed while it loads leaves nothing, and the next one does it', async () => {
    const command = startCountersign(
      ['restore', file, '--identity-file', place.identityFile, '--database-url', empty.url], place.env);
    while (command.isRunning() && (await loading()) === 0) await pause(5);
    command.child.kill('SIGKILL');
    await command.ended;
    while ((await loading()) > 0) await pause(20);
    expect(await objects()).toBe(0);
  });

  const loading = async () => (await empty.asSuperuser<{ n: number }>(
    `select count(*)::integer as n from pg_stat_activity where datname = current_database() and application_name = 'countersign'
       and xact_start is not null`))[0]!.n;
});

describe('a backup is refused with the reason', () => {
  beforeEach(() => rmSync(join(place.folder, 'new.age'), { force: true }));
  const backup = (...more: string[]) =>
    countersign(['backup', '--database-url', server.database.url, '--out', join(place.folder, 'new.age'), ...more], place.env);

  test('without somebody to open it, or with a passphrase that is guessed', async () => {
    const short = join(place.folder, 'short');
    writeFileSync(short, 'hunter2\n');
    expect(await backup()).toMatchObject({ code: 2, stderr: expect.stringContaining('always encrypted') });
    expect(await backup('--recipient', 'age1nonsense')).toMatchObject({ code: 2, stderr: expect.stringContaining('--recipient') });
    const guessed = await backup('--passphrase-file', short);
    expect([guessed.code, guessed.stderr]).toEqual([2, expect.stringContaining('shorter than 12')]);
    expect(guessed.stderr).not.toContain('hunter2');
    expect(await backup('--passphrase-file', short, '--recipient', place.recipient)).toMatchObject({ code: 2 });
    expect(existsSync(join(place.folder, 'new.age'))).toBe(false);
  });

  test('onto a file that is there, into a folder that is not', async () => {
    const kept = join(place.folder, 'kept.age');
    writeFileSync(kept, 'before');
    const words = ['backup', '--database-url', server.database.url, '--recipient', place.recipient, '--out'];
    expect(await countersign([...words, kept], place.env)).toMatchObject({ code: 1, stderr: expect.stringContaining('is not replaced') });
    expect(readFileSync(kept, 'utf8')).toBe('before');
    expect(await countersign([...words, join(place.folder, 'no', 'b.age')], place.env))
      .toMatchObject({ code: 1, stderr: expect.stringContaining('there is no such folder') });
  });

  test('with other secrets than those of the database, and without any', async () => {
    const words = ['backup', '--database-url', server.database.url, '--recipient', place.recipient, '--out', join(place.folder, 'new.age')];
    const none = await countersign(words, { DATA_DIR: join(place.folder, 'none') });
    expect([none.code, none.stderr]).toEqual([1, expect.stringContaining('JWT_SECRET, ENCRYPTION_KEY, AUDIT_SIGNING_KEY: must be set')]);
    const other = await countersign(words, { ...place.env, ENCRYPTION_KEY: randomBytes(32).toString('base64') });
    expect([other.code, other.stderr]).toEqual([1, expect.stringContaining('ENCRYPTION_KEY: is not the one')]);
  });

  test('of a database that is away, or empty', async () => {
    const words = ['backup', '--recipient', place.recipient, '--out', join(place.folder, 'new.age'), '--database-url'];
    const nobody = await countersign([...words, 'postgres://nobody@127.0.0.1:1/none'], place.env);
    expect([nobody.code, nobody.stderr]).toEqual([2, expect.stringContaining('cannot be reached')]);
    expect(await countersign([...words, empty.url], place.env)).toMatchObject({ code: 2, stderr: expect.stringContaining('never set up') });
  });

  test('on a disk that is full', async () => {
    const small = join(place.folder, 'small');
    mkdirSync(small);
    if (!mounted(small)) return expect(process.getuid?.()).not.toBe(0);
    try {
      const words = ['backup', '--database-url', server.database.url, '--recipient', place.recipient, '--out', join(small, 'b.age')];
      expect(await countersign(words, place.env)).toMatchObject({ code: 1, stderr: expect.stringContaining('the disk is full') });
      expect(readdirSync(small)).toEqual([]);
    } finally {
      execFileSync('umount', [small]);
    }
  });

  test('nor is there half of one where the process was killed', async () => {
    const command = startCountersign(
      ['backup', '--database-url', server.database.url, '--recipient', place.recipient, '--out', join(place.folder, 'new.age')], place.env);
    const begun = () => readdirSync(place.folder).some((name) => name.startsWith('new.age.part-'));
    while (command.isRunning() && !begun()) await pause(2);
    command.child.kill('SIGKILL');
    await command.ended;
    const isThere = existsSync(join(place.folder, 'new.age'));
    if (isThere) expect((await restored(join(place.folder, 'new.age'), empty.url, place, '--check')).code).toBe(0);
    // What it had begun goes with the next one, of whatever name; what another machine or a process that runs has begun stays.
    const kept = [`of-another.age.part-${DEAD}-another-machine`, `running.age.part-${process.pid}-${hostname()}`];
    for (const name of [...kept, `older.age.part-${DEAD}-${hostname()}`]) writeFileSync(join(place.folder, name), 'half');
    await backupOf(server.database.url, place, 'next.age');
    expect(readdirSync(place.folder).filter((name) => name.includes('.part-')).sort()).toEqual(kept.sort());
  });
});

/** No process has this number: it is beyond the largest. */
const DEAD = 4_194_305;

interface Manifest {
  readonly tables: readonly { readonly name: string; readonly columns: readonly string[] }[];
  readonly migrations: readonly string[];
  readonly trees: readonly { readonly size: number }[];
}

/** Only root may have a file system of its own; a container may refuse even that. */
function mounted(folder: string): boolean {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=16k', 'tmpfs', folder], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
