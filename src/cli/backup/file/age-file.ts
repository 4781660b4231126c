import { createReadStream, readFileSync } from 'node:fs';
import { ReadableStream } from 'node:stream/web';
import { Decrypter, Encrypter } from 'age-encryption';
import { StartRefused } from '../../../platform/config/start-refused.js';

/** Shorter ones are guessed by whoever has the file: nothing slows them down but the work that a guess is. */
const SHORTEST_PASSPHRASE = 12;
const PIECE = 64 * 1024;

/** For whom a backup is encrypted, or by what it is opened. */
export interface KeyOptions {
  readonly recipient?: readonly string[];
  readonly identityFile?: string;
  readonly passphraseFile?: string;
}

/** @throws StartRefused when nobody is named, or one that is no recipient of `age` */
export function encrypterFor({ recipient = [], passphraseFile }: KeyOptions): Encrypter {
  const encrypter = new Encrypter();
  if (passphraseFile === undefined && recipient.length === 0) {
    throw new StartRefused('a backup holds every secret and is always encrypted: give --recipient age1… or --passphrase-file');
  }
  if (passphraseFile !== undefined) {
    const passphrase = passphraseIn(passphraseFile);
    if (passphrase.length < SHORTEST_PASSPHRASE) {
      throw new StartRefused(`--passphrase-file: the passphrase is shorter than ${SHORTEST_PASSPHRASE} characters`);
    }
    encrypter.setPassphrase(passphrase);
  }
  for (const one of recipient) {
    try {
      encrypter.addRecipient(one);
    } catch {
      throw new StartRefused('--recipient: write the public key that age-keygen shows, age1…');
    }
  }
  return encrypter;
}

/** @throws StartRefused when the file holds no key */
export function decrypterBy({ identityFile, passphraseFile }: KeyOptions): Decrypter {
  const decrypter = new Decrypter();
  if (identityFile === undefined && passphraseFile === undefined) {
    throw new StartRefused('a backup is encrypted: give --identity-file (the key of age-keygen) or --passphrase-file');
  }
  if (passphraseFile !== undefined) decrypter.addPassphrase(passphraseIn(passphraseFile));
  if (identityFile !== undefined) {
    const keys = readable('--identity-file', identityFile).split('\n').map((line) => line.trim()).filter((line) => /^[^#]/.test(line));
    if (keys.length === 0) throw new StartRefused('--identity-file: there is no key of age in it');
    for (const key of keys) {
      try {
        decrypter.addIdentity(key);
      } catch {
        throw new StartRefused('--identity-file: there is something else than a key of age in it (AGE-SECRET-KEY-…)');
      }
    }
  }
  return decrypter;
}

function passphraseIn(file: string): string {
  const text = readable('--passphrase-file', file).replace(/\r?\n$/, '');
  if (text === '') throw new StartRefused('--passphrase-file: it is empty');
  return text;
}

function readable(option: string, file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new StartRefused(`${option}: ${file} cannot be read (${(error as NodeJS.ErrnoException).code})`);
  }
}

export async function* encrypted(bytes: AsyncIterable<Uint8Array>, encrypter: Encrypter): AsyncGenerator<Uint8Array> {
  yield* piecesOf(await encrypter.encrypt(streamOf(bytes)));
}

/**
 * The content of a file that was encrypted by `age`.
 *
 * @throws StartRefused where the key is another one, and where the file was altered or cut off, at the latest behind its last byte
 */
export async function* decrypted(file: string, decrypter: Decrypter): AsyncGenerator<Uint8Array> {
  const source = createReadStream(file, { highWaterMark: PIECE });
  let broken: NodeJS.ErrnoException | undefined;
  source.once('error', (error) => (broken = error));
  try {
    yield* piecesOf(await decrypter.decrypt(streamOf(source)));
  } catch (error) {
    if (broken === undefined) throw new StartRefused(whyNot(error, file));
    throw new StartRefused(`${file} cannot be read (${broken.code ?? broken.message})`);
  } finally {
    source.destroy();
  }
}

function whyNot(error: unknown, file: string): string {
  const text = error instanceof Error ? error.message : String(error);
  if (/no identity matched/.test(text)) return `${file} does not open with this key or passphrase`;
  if (/^invalid version|non-ASCII byte|ended before reading|^invalid header$/.test(text)) {
    return `${file} is no backup: it is not encrypted by age, or its beginning is damaged`;
  }
  return `${file} was altered, or is not whole`;
}

/** Whoever stops reading ends the source, too. */
function streamOf(bytes: AsyncIterable<Uint8Array>): globalThis.ReadableStream<Uint8Array<ArrayBuffer>> {
  return ReadableStream.from(bytes) as globalThis.ReadableStream<Uint8Array<ArrayBuffer>>;
}

async function* piecesOf(stream: globalThis.ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield* stream as unknown as AsyncIterable<Uint8Array>;
}
