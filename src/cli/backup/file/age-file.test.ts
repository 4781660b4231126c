import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Decrypter, Encrypter, generateIdentity, identityToRecipient } from 'age-encryption';
import { decrypted, decrypterBy, encrypted, sealingFor } from './age-file.js';

let folder: string;
let identity: string;
let recipient: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'countersign-age-'));
  identity = await generateIdentity();
  recipient = await identityToRecipient(identity);
  writeFileSync(join(folder, 'identity'), `${identity}\n`);
});
afterAll(() => rmSync(folder, { recursive: true }));

async function whole(pieces: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const part of pieces) parts.push(part);
  return Buffer.concat(parts);
}

async function* inPieces(bytes: Buffer): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += 7_001) yield bytes.subarray(at, at + 7_001);
}

const opened = async (sealed: Uint8Array) => {
  const file = join(folder, 'file.age');
  writeFileSync(file, sealed);
  return whole(decrypted(file, decrypterBy({ identityFile: join(folder, 'identity') })));
};

describe('what is written here the library reads, and the other way round', () => {
  test.each([0, 1, 65_535, 65_536, 65_537, 131_072, 200_000])('%i bytes', async (length) => {
    const plain = randomBytes(length);
    const ours = await whole(encrypted(inPieces(plain), sealingFor({ recipient: [recipient, recipient] })));
    const decrypter = new Decrypter();
    decrypter.addIdentity(identity);
    expect(plain.equals(await decrypter.decrypt(ours))).toBe(true);
    const encrypter = new Encrypter();
    encrypter.addRecipient(recipient);
    expect(plain.equals(await opened(await encrypter.encrypt(plain)))).toBe(true);
    for (const cut of [1, 16, 17, 65_552]) {
      if (cut < length) await expect(opened(ours.subarray(0, -cut))).rejects.toThrow('was altered, or is not whole');
    }
  });

  test('and two files have neither key nor nonce in common', async () => {
    const sealing = sealingFor({ recipient: [recipient] });
    const sealed = () => whole(encrypted(inPieces(Buffer.alloc(99)), sealing));
    const [one, other] = [await sealed(), await sealed()];
    expect(one.subarray(-115).equals(other.subarray(-115))).toBe(false);
  });
});
