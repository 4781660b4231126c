import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { tarEnd, tarMember, tarMembers } from './tar.js';

const MADE_AT = new Date('2026-11-26T00:00:00Z');

type File = readonly [name: string, content: Uint8Array];

const archiveOf = (files: readonly File[]) =>
  Buffer.concat([...files.flatMap(([name, content]) => [...tarMember(name, [content], MADE_AT)]), tarEnd()]);

async function* inPieces(bytes: Buffer, length: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length);
}

async function read(bytes: Buffer, length: number): Promise<File[]> {
  const files: File[] = [];
  for await (const { name, content } of tarMembers(inPieces(bytes, length))) {
    const parts: Uint8Array[] = [];
    for await (const part of content) parts.push(part);
    files.push([name, new Uint8Array(Buffer.concat(parts))]);
  }
  return files;
}

const files = fc.array(fc.tuple(fc.stringMatching(/^[a-z/]{1,80}$/), fc.uint8Array({ maxLength: 2_000 })), { maxLength: 5 });

describe('an archive', () => {
  test('reads as it was written, in whatever pieces it comes', () =>
    fc.assert(fc.asyncProperty(files, fc.integer({ min: 1, max: 3_000 }), async (written, length) =>
      expect(await read(archiveOf(written), length)).toEqual(written)), { numRuns: 60 }));

  test('that is cut, or is none, is an error', async () => {
    const whole = archiveOf([['a', Buffer.from('abc')], ['b', Buffer.alloc(600, 1)]]);
    for (let at = 0; at < 1_024 + 512 + 1_024; at += 97) await expect(read(whole.subarray(0, at), 100)).rejects.toThrow();
    await expect(read(Buffer.alloc(2_048, 'x'), 100)).rejects.toThrow('no tar archive');
    const link = archiveOf([['a', Buffer.alloc(0)]]);
    link.write('2', 156);
    link.write(`${(Number.parseInt(link.toString('ascii', 148, 154), 8) + 2).toString(8).padStart(6, '0')}`, 148);
    await expect(read(link, 100)).rejects.toThrow('plain files');
  });
});
