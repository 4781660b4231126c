import { randomBytes } from 'node:crypto';
import { createReadStream, readFileSync } from 'node:fs';
import { Decrypter, Encrypter } from 'age-encryption';
import { StartRefused } from '../../../platform/config/start-refused.js';
import { UsageError } from '../../command-output.js';
import { NONCE_BYTES, openedPayload, payloadKey, sealedPayload } from './age-payload.js';

/** Shorter ones are guessed by whoever has the file: nothing slows them down but the work that a guess is. */
const SHORTEST_PASSPHRASE = 12;
const PIECE = 64 * 1024;
/** Of many recipients; what has no end of a header by then is something else. */
const LONGEST_HEADER = 1024 * 1024;
/** Of an empty file, behind the header: a nonce, and the tag of an empty piece. */
const EMPTY_PAYLOAD = NONCE_BYTES + 16;

/** For whom a backup is encrypted, or by what it is opened. */
export interface KeyOptions {
  readonly recipient?: readonly string[];
  readonly identityFile?: string;
  readonly passphraseFile?: string;
}

/** Makes the header of one file, and the key that it hands to whoever may open it. */
export interface Sealing {
  open(): Promise<{ readonly header: Uint8Array; readonly fileKey: Uint8Array }>;
}

/** @throws UsageError when nobody is named, or one that is no recipient of `age` */
export function sealingFor({ recipient = [], passphraseFile }: KeyOptions): Sealing {
  if (passphraseFile !== undefined) return sealingByPassphrase(passphraseIn(passphraseFile));
  if (recipient.length === 0) {
    throw new UsageError('a backup holds every secret and is always encrypted: give --recipient age1… or --passphrase-file');
  }
  const encrypter = new Encrypter();
  for (const one of recipient) {
    try {
      encrypter.addRecipient(one);
    } catch {
      throw new UsageError('--recipient: write the public key that age-keygen shows, age1…');
    }
  }
  let fileKey = new Uint8Array();
  encrypter.addRecipient({ wrapFileKey: (key) => {
    fileKey = Uint8Array.from(key);
    return [];
  } });
  return {
    open: async () => {
      const header = await headerOf(encrypter);
      return { header, fileKey };
    },
  };
}

function sealingByPassphrase(passphrase: string): Sealing {
  if (passphrase.length < SHORTEST_PASSPHRASE) {
    throw new UsageError(`--passphrase-file: the passphrase is shorter than ${SHORTEST_PASSPHRASE} characters`);
  }
  const [encrypter, decrypter] = [new Encrypter(), new Decrypter()];
  encrypter.setPassphrase(passphrase);
  decrypter.addPassphrase(passphrase);
  return {
    open: async () => {
      const header = await headerOf(encrypter);
      return { header, fileKey: await decrypter.decryptHeader(header) };
    },
  };
}

async function headerOf(encrypter: Encrypter): Promise<Uint8Array> {
  return (await encrypter.encrypt(new Uint8Array())).subarray(0, -EMPTY_PAYLOAD);
}

/** @throws UsageError when the file holds no key */
export function decrypterBy({ identityFile, passphraseFile }: KeyOptions): Decrypter {
  const decrypter = new Decrypter();
  if (identityFile === undefined && passphraseFile === undefined) {
    throw new UsageError('a backup is encrypted: give --identity-file (the key of age-keygen) or --passphrase-file');
  }
  if (passphraseFile !== undefined) decrypter.addPassphrase(passphraseIn(passphraseFile));
  if (identityFile !== undefined) {
    const keys = readable('--identity-file', identityFile).split('\n').map((line) => line.trim()).filter((line) => /^[^#]/.test(line));
    if (keys.length === 0) throw new UsageError('--identity-file: there is no key of age in it');
    for (const key of keys) {
      try {
        decrypter.addIdentity(key);
      } catch {
        throw new UsageError('--identity-file: there is something else than a key of age in it (AGE-SECRET-KEY-…)');
      }
    }
  }
  return decrypter;
}

function passphraseIn(file: string): string {
  const text = readable('--passphrase-file', file).replace(/\r?\n$/, '');
  if (text === '') throw new UsageError('--passphrase-file: it is empty');
  return text;
}

function readable(option: string, file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new UsageError(`${option}: ${file} cannot be read (${(error as NodeJS.ErrnoException).code})`);
  }
}

export async function* encrypted(bytes: AsyncIterable<Uint8Array>, sealing: Sealing): AsyncGenerator<Uint8Array> {
  const { header, fileKey } = await sealing.open();
  const nonce = randomBytes(NONCE_BYTES);
  yield Buffer.concat([header, nonce]);
  yield* sealedPayload(payloadKey(fileKey, nonce), bytes);
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
    const pieces = source[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
    const { header, rest } = await headerIn(pieces);
    const fileKey = await decrypter.decryptHeader(header);
    const key = payloadKey(fileKey, rest.subarray(0, NONCE_BYTES));
    yield* openedPayload(key, behind(rest.subarray(NONCE_BYTES), pieces));
  } catch (error) {
    if (broken === undefined) throw new StartRefused(whyNot(error, file));
    throw new StartRefused(`${file} cannot be read (${broken.code ?? broken.message})`);
  } finally {
    source.destroy();
  }
}

/** The header ends with a line of its digest; what was read behind it has the nonce at least. */
async function headerIn(pieces: AsyncIterator<Buffer>): Promise<{ header: Buffer; rest: Buffer }> {
  let read = Buffer.alloc(0);
  for (;;) {
    const digest = read.indexOf('\n--- ');
    const end = digest === -1 ? 0 : read.indexOf('\n', digest + 1) + 1;
    if (end > 0 && read.length >= end + NONCE_BYTES) return { header: read.subarray(0, end), rest: read.subarray(end) };
    if (digest === -1 && read.length > LONGEST_HEADER) throw new Error('invalid header');
    const next = await pieces.next();
    if (next.done) throw new Error(end > 0 ? 'cut' : 'invalid header');
    read = Buffer.concat([read, next.value]);
  }
}

async function* behind(first: Buffer, pieces: AsyncIterator<Buffer>): AsyncGenerator<Uint8Array> {
  yield first;
  for (let next = await pieces.next(); !next.done; next = await pieces.next()) yield next.value;
}

function whyNot(error: unknown, file: string): string {
  const text = error instanceof Error ? error.message : String(error);
  if (/no identity matched/.test(text)) return `${file} does not open with this key or passphrase`;
  if (/^invalid version|non-ASCII byte|ended before reading|^invalid header$/.test(text)) {
    return `${file} is no backup: it is not encrypted by age, or its beginning is damaged`;
  }
  return `${file} was altered, or is not whole`;
}
