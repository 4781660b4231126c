import { createHash } from 'node:crypto';
import { mkdtemp, mkdir, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { line, lineText } from '../../../../domain/audit/export/export-lines.js';
import type { ArchiveStore } from '../../../../platform/audit/archive-store.js';
import { FailingArchive, MemoryArchive } from '../../../../../test/support/memory/memory-archive.js';
import { DirectoryArchive } from './directory-archive.js';
import { ArchivedDisclosures, type ArchivedEntry } from './archived-disclosures.js';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'archive-'));
});
afterEach(() => rm(folder, { recursive: true }));

async function* from(lines: readonly string[], end?: Error): AsyncGenerator<string> {
  for (const one of lines) yield await Promise.resolve(one);
  if (end) throw end;
}

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

const STORES: [string, () => ArchiveStore][] = [
  ['a directory', () => new DirectoryArchive(folder)],
  ['memory', () => new MemoryArchive()],
  ['a store that could fail', () => new FailingArchive(new DirectoryArchive(folder))],
];

describe.each(STORES)('an archive in %s', (_name, make) => {
  const LINES = ['{"a":1}', '', 'ein Wörtchen\r\u2028 mit Zeilenenden, die keine sind', '{"b":"' + 'x'.repeat(300_000) + '"}'];
  const text = (lines: readonly string[]) => lines.map((one) => `${one}\n`).join('');

  it.each(['org_1/sweep_1/skeleton.jsonl.gz', 'org_1/sweep_1/manifest.json'])('gives back what was written to %s', async (name) => {
    const store = make();
    expect(await store.exists(name)).toBe(false);
    const written = await store.write(name, from(LINES));
    expect(written).toEqual({
      digest: createHash('sha256').update(text(LINES)).digest('hex'), bytes: Buffer.byteLength(text(LINES)),
    });
    expect(await store.exists(name)).toBe(true);
    expect(await all(store.read(name))).toEqual(LINES);
  });

  it('writes each object once, and replaces only what is there', async () => {
    const store = make();
    await expect(store.replace('org_1/a.gz', from(['x']))).rejects.toThrow('no object');
    await store.write('org_1/a.gz', from(['old']));
    await expect(store.write('org_1/a.gz', from(['other']))).rejects.toThrow('already');
    expect(await all(store.read('org_1/a.gz'))).toEqual(['old']);
    await store.replace('org_1/a.gz', from(['new', 'lines']));
    expect(await all(store.read('org_1/a.gz'))).toEqual(['new', 'lines']);
  });

  it('has nothing of a writing that breaks off, and keeps what a replacing would have replaced', async () => {
    const store = make();
    const broken = () => from(['half'], new Error('the lines end here'));
    await expect(store.write('org_1/a.gz', broken())).rejects.toThrow('the lines end here');
    expect(await store.exists('org_1/a.gz')).toBe(false);
    await store.write('org_1/a.gz', from(['whole']));
    await expect(store.replace('org_1/a.gz', broken())).rejects.toThrow('the lines end here');
    expect(await all(store.read('org_1/a.gz'))).toEqual(['whole']);
  });

  it('discards whole folders', async () => {
    const store = make();
    const names = ['org_1/b/x.json', 'org_1/B/x.json', 'org_1/a/y.gz', 'org_1/a/x.gz', 'org_10/a/x.gz'];
    for (const name of names) await store.write(name, from([name]));
    await store.discard('org_1/a');
    await store.discard('org_1/never');
    expect(await Promise.all(names.map((name) => store.exists(name)))).toEqual([true, true, false, false, true]);
  });

  it.each(['../a', '/a', 'a//b', 'a/./b', 'a/..', '', 'a/b.part', '.a', 'a\\b', 'a b', 'ä'])('refuses the name %p', async (name) => {
    const store = make();
    await expect(store.write(name, from(['x']))).rejects.toThrow('is no name');
    await expect(all(store.read(name))).rejects.toThrow('is no name');
  });

  it('says that an object is not there, and holds no line ends within lines', async () => {
    const store = make();
    await expect(all(store.read('org_1/a.gz'))).rejects.toThrow();
    await expect(store.write('org_1/a.gz', from(['one\ntwo']))).rejects.toThrow('line end');
    expect(await store.exists('org_1/a.gz')).toBe(false);
    await store.check();
  });
});

describe('a directory of archives', () => {
  it('refuses bytes that are no UTF-8, which would read as others do', async () => {
    const store = new DirectoryArchive(folder);
    await store.write('org_1/s/manifest.json', from(['caf\uFFFD']));
    await writeFile(join(folder, 'org_1/s/manifest.json'), Buffer.from('caf\u00ff\n', 'latin1'));
    await expect(all(store.read('org_1/s/manifest.json'))).rejects.toThrow('not valid for encoding utf-8');
  });

  it('keeps plain gzip', async () => {
    await new DirectoryArchive(folder).write('org_1/a.gz', from(['{"a":1}', '{"b":2}']));
    expect(gunzipSync(await readFile(join(folder, 'org_1/a.gz'))).toString()).toBe('{"a":1}\n{"b":2}\n');
  });

  it('discards what a crash left', async () => {
    const store = new DirectoryArchive(folder);
    await mkdir(join(folder, 'org_1/s'), { recursive: true });
    await writeFile(join(folder, 'org_1/s/a.gz.0123.part'), 'half');
    await store.discard('org_1/s');
    expect(await readdir(join(folder, 'org_1'))).toEqual([]);
  });

  it.each(['a.gz', 'a.json'])('notices that %s was cut off', async (name) => {
    const store = new DirectoryArchive(folder);
    await store.write(name, from(Array.from({ length: 200 }, (_, n) => createHash('sha256').update(String(n)).digest('hex'))));
    const { length } = await readFile(join(folder, name));
    await truncate(join(folder, name), length - 20);
    await expect(all(store.read(name))).rejects.toThrow();
  });

  it('is not made where it is missing', async () => {
    const store = new DirectoryArchive(join(folder, 'not-mounted'));
    await expect(store.check()).rejects.toThrow(`${join(folder, 'not-mounted')} is not there: mount it or, for a new one, make it`);
    await expect(store.write('org_1/a.gz', from(['x']))).rejects.toThrow('ENOENT');
  });
});

describe('a failing store', () => {
  it('breaks off a writing', async () => {
    const store = new FailingArchive(new DirectoryArchive(folder));
    store.failAfterLines = 2;
    await expect(store.write('org_1/a.gz', from(['1', '2', '3']))).rejects.toThrow('no space');
    await expect(store.check()).rejects.toThrow('no space');
    expect(await readdir(join(folder, 'org_1'))).toEqual([]);
  });
});

describe('archived disclosures', () => {
  const hashOf = (n: number) => String(n).repeat(64);
  const stored = (n: number, text: string) =>
    lineText(line('disclosures', { id: `audit_${n}`, hash: hashOf(n), text })).slice(0, -1);
  const told = (n: number) => lineText(line('entry', {
    index: n, organizationId: 'org_1', chain: 'sys_org_1', seq: n, id: `audit_${n}`, event: `event.${n}`, agentId: null, actorId: 'root',
    capability: null, outcome: null, timestamp: '2026-11-22T00:00:00.000Z', payload: '{}', prevHash: null, hash: hashOf(n),
  })).slice(0, -1);
  const anArchive = async (archive: MemoryArchive, place: string, entries: readonly (readonly [number, string])[]) => {
    await archive.write(`${place}/disclosures.jsonl.gz`, from(entries.map(([n, text]) => stored(n, text))));
    await archive.write(`${place}/skeleton.jsonl.gz`, from(entries.map(([n]) => told(n))));
  };
  const nothing = () => Promise.resolve();

  it('are changed entry by entry, object by object, and left alone where nothing changes', async () => {
    const archive = new MemoryArchive();
    await anArchive(archive, 'org_1/s1', [[1, 'Ada'], [2, 'Bob']]);
    await anArchive(archive, 'org_1/s2', [[3, 'Bob']]);
    await anArchive(archive, 'org_1/unrecorded', [[4, 'Ada']]);
    await anArchive(archive, 'org_2/s1', [[5, 'Ada']]);
    const untouched = archive.objects.get('org_1/s2/disclosures.jsonl.gz');
    const disclosures = new ArchivedDisclosures(archive);
    const sweeps = ['s1', 's2'];
    let asked = 0;
    const erase = ({ hash, event, text }: ArchivedEntry) => (text === 'Ada' ? `[erased] ${hash[0]!} ${event}` : text);
    const rewrite = () => disclosures.rewrite('org_1', sweeps, erase, () => Promise.resolve(void asked++));
    expect(await rewrite()).toEqual({ objects: 1, entries: 1 });
    expect(await rewrite()).toEqual({ objects: 0, entries: 0 });
    expect(asked).toBe(1);
    expect((await all(disclosures.of('org_1', sweeps))).map(({ id, text }) => [id, text])).toEqual([
      ['audit_1', '[erased] 1 event.1'], ['audit_2', 'Bob'], ['audit_3', 'Bob'],
    ]);
    expect(archive.objects.get('org_1/s2/disclosures.jsonl.gz')).toBe(untouched);
    expect(archive.objects.get('org_1/s1/skeleton.jsonl.gz')).toEqual([told(1), told(2)]);
    for (const other of ['org_1/unrecorded', 'org_2/s1']) {
      expect(archive.objects.get(`${other}/disclosures.jsonl.gz`)).toEqual([expect.stringContaining('Ada')]);
    }
    expect(await disclosures.there('org_1', ['s1', 'thrown away', 's2'])).toEqual(sweeps);
  });

  it('are not put in their place by whoever is not alone any more', async () => {
    const archive = new MemoryArchive();
    await anArchive(archive, 'org_1/s1', [[1, 'Ada']]);
    const lost = () => Promise.reject(new Error('another process has it'));
    await expect(new ArchivedDisclosures(archive).rewrite('org_1', ['s1'], () => '', lost)).rejects.toThrow('another process');
    expect(archive.objects.get('org_1/s1/disclosures.jsonl.gz')).toEqual([stored(1, 'Ada')]);
  });

  it.each([
    ['rubbish', ['rubbish'], 'cannot be read'],
    ['of another entry', [stored(2, 'Ada')], 'lacks the values'], ['missing', [], 'lacks the values'],
  ])('that are %s stop it before anything is lost', async (_what, values, message) => {
    const archive = new MemoryArchive();
    await archive.write('org_1/s1/skeleton.jsonl.gz', from([told(1)]));
    await archive.write('org_1/s1/disclosures.jsonl.gz', from(values));
    await expect(new ArchivedDisclosures(archive).rewrite('org_1', ['s1'], () => '', nothing)).rejects.toThrow(message);
    expect(archive.objects.get('org_1/s1/disclosures.jsonl.gz')).toEqual(values);
  });

  it('that a process left half-written go when the object is next replaced', async () => {
    const store = new DirectoryArchive(folder);
    await store.write('org_1/a.gz', from(['Ada']));
    await writeFile(join(folder, 'org_1', 'a.gz.0123456789abcdef.part'), 'Ada');
    await writeFile(join(folder, 'org_1', 'ab.gz.0123456789abcdef.part'), 'Bob');
    await store.replace('org_1/a.gz', from(['Bob']));
    expect((await readdir(join(folder, 'org_1'))).sort()).toEqual(['a.gz', 'ab.gz.0123456789abcdef.part']);
  });
});
