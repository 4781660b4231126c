import { createHash } from 'node:crypto';
import { ArchiveStore, type ArchivedObject } from '../../../src/platform/audit/archive-store.js';

/** Archives in memory. */
export class MemoryArchive extends ArchiveStore {
  readonly objects = new Map<string, readonly string[]>();

  async write(name: string, lines: AsyncIterable<string>): Promise<ArchivedObject> {
    if (this.objects.has(named(name))) throw new Error(`the archive has an object ${name} already`);
    return this.put(name, lines);
  }

  async replace(name: string, lines: AsyncIterable<string>): Promise<ArchivedObject> {
    if (!this.objects.has(named(name))) throw new Error(`the archive has no object ${name}`);
    return this.put(name, lines);
  }

  async *read(name: string): AsyncGenerator<string> {
    const lines = this.objects.get(named(name));
    if (!lines) throw new Error(`the archive has no object ${name}`);
    for (const line of lines) yield await Promise.resolve(line);
  }

  exists(name: string): Promise<boolean> {
    return Promise.resolve(this.objects.has(name));
  }

  discard(folder: string): Promise<void> {
    for (const name of [...this.objects.keys()]) if (name.startsWith(`${folder}/`)) this.objects.delete(name);
    return Promise.resolve();
  }

  check(): Promise<void> {
    return Promise.resolve();
  }

  private async put(name: string, lines: AsyncIterable<string>): Promise<ArchivedObject> {
    const all: string[] = [];
    for await (const line of lines) {
      if (line.includes('\n')) throw new Error('a line of an archive holds a line end');
      all.push(line);
    }
    this.objects.set(name, all);
    const text = all.map((line) => `${line}\n`).join('');
    return { digest: createHash('sha256').update(text).digest('hex'), bytes: Buffer.byteLength(text) };
  }
}

function named(name: string): string {
  const isName = name.split('/').every((segment) => /^[A-Za-z0-9_][A-Za-z0-9._-]*$/.test(segment) && !segment.endsWith('.part'));
  if (!isName) throw new Error(`${JSON.stringify(name)} is no name of an archive's object`);
  return name;
}

/** Behaves as another store until it is told to fail: writing then breaks off after so many lines, as on a full disk. */
export class FailingArchive extends ArchiveStore {
  failAfterLines = Infinity;

  constructor(private readonly inner: ArchiveStore) {
    super();
  }

  write(name: string, lines: AsyncIterable<string>): Promise<ArchivedObject> {
    return this.inner.write(name, this.cutShort(lines));
  }

  replace(name: string, lines: AsyncIterable<string>): Promise<ArchivedObject> {
    return this.inner.replace(name, this.cutShort(lines));
  }

  read(name: string): AsyncIterable<string> {
    return this.inner.read(name);
  }

  exists(name: string): Promise<boolean> {
    return this.inner.exists(name);
  }

  discard(folder: string): Promise<void> {
    return this.inner.discard(folder);
  }

  check(): Promise<void> {
    return this.failAfterLines === Infinity ? this.inner.check() : Promise.reject(new Error('no space left on device'));
  }

  private async *cutShort(lines: AsyncIterable<string>): AsyncGenerator<string> {
    let left = this.failAfterLines;
    for await (const line of lines) {
      if (left-- <= 0) throw new Error('no space left on device');
      yield line;
    }
  }
}
