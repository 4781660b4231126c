import { createPrivateKey, createPublicKey, hash, sign, verify, type KeyObject } from 'node:crypto';

// Signed notes as https://c2sp.org/signed-note has them: a text, an empty line, and for each signature a line
// `— <name> <base64 of key id and signature>`.

/** A public key in its text form, `<name>+<key id>+<base64 of algorithm and key>`, read. */
export interface VerifierKey {
  readonly text: string;
  readonly name: string;
  /** 8 digits of hex. */
  readonly id: string;
  readonly key: KeyObject;
}

export interface SigningKey {
  readonly name: string;
  readonly id: string;
  readonly key: KeyObject;
}

interface NoteSignature {
  readonly name: string;
  /** 8 digits of hex. */
  readonly id: string;
  readonly signature: Uint8Array;
}

/** `open`: signed by a known key, and by none wrongly. `unknown`: by no known key. `forged`: a known key's signature is wrong. */
export type OpenedNote =
  | { readonly kind: 'open'; readonly text: string; readonly by: readonly VerifierKey[] }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'forged'; readonly by: VerifierKey }
  | { readonly kind: 'unsigned' }
  | { readonly kind: 'malformed'; readonly detail: string };

const ED25519 = 1;
const KEY_BYTES = 32;
const SIGNATURE_BYTES = 64;
const ID_BYTES = 4;
const PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex');
const SPKI_PREFIX = Buffer.from('302a300506032b6570032100', 'hex');
const LINE_START = '— ';
const NAME = /^[^\s+\p{Cc}]+$/u;
const CONTROL = /(?!\n)\p{Cc}/u;
const LONE_SURROGATE = /[\uD800-\uDFFF]/u;

// A stranger's note must not cost more to refuse than this.
const MAX_NOTE_LENGTH = 1_000_000;
const MAX_SIGNATURES = 100;

/** @param seed base64 of the 32 bytes of an Ed25519 private key */
export function signingKey(name: string, seed: string): SigningKey {
  if (!NAME.test(name)) throw new TypeError('no name of a key');
  const key = createPrivateKey({ key: Buffer.concat([PKCS8_PREFIX, Buffer.from(seed, 'base64')]), format: 'der', type: 'pkcs8' });
  return { name, id: keyId(name, typedKey(key)), key };
}

/** The signing key's public half in its text form. */
export function verifierKey(name: string, seed: string): string {
  return publicHalf(signingKey(name, seed)).text;
}

export function publicHalf({ name, id, key }: SigningKey): VerifierKey {
  return { text: `${name}+${id}+${typedKey(key).toString('base64')}`, name, id, key: createPublicKey(key) };
}

/** Reads a public key strictly: its id must be that of its name and bytes. Undefined for anything else than an Ed25519 key. */
export function readVerifierKey(text: string): VerifierKey | undefined {
  const [, name, id, encoded] = /^([^+]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/=]+)$/s.exec(text) ?? [];
  if (name === undefined || id === undefined || encoded === undefined || !NAME.test(name)) return undefined;
  const typed = canonicalBase64(encoded);
  if (typed?.length !== 1 + KEY_BYTES || typed[0] !== ED25519 || keyId(name, typed) !== id) return undefined;
  const key = createPublicKey({ key: Buffer.concat([SPKI_PREFIX, typed.subarray(1)]), format: 'der', type: 'spki' });
  return { text, name, id, key };
}

/** Signs a text, once by each key. @throws TypeError for a text without a newline at its end, or with another control character */
export function signNote(text: string, keys: readonly SigningKey[]): string {
  if (!isText(text)) throw new TypeError('not the text of a note');
  const lines = keys.map(({ name, id, key }) => {
    const signature = sign(null, Buffer.from(text, 'utf8'), key);
    return `${LINE_START}${name} ${Buffer.concat([Buffer.from(id, 'hex'), signature]).toString('base64')}\n`;
  });
  return `${text}\n${lines.join('')}`;
}

/** Opens a note with the keys that are known. Its text counts only where the answer is `open`. */
export function openNote(note: string, known: readonly VerifierKey[]): OpenedNote {
  const parts = readNote(note);
  if ('kind' in parts) return parts;
  const { text, signatures } = parts;
  const message = Buffer.from(text, 'utf8');
  const by: VerifierKey[] = [];
  for (const signature of signatures) {
    const key = known.find(({ name, id }) => name === signature.name && id === signature.id);
    if (!key) continue;
    if (!isSignature(message, key, signature)) return { kind: 'forged', by: key };
    if (!by.includes(key)) by.push(key);
  }
  return by.length > 0 ? { kind: 'open', text, by } : { kind: 'unknown' };
}

/** Whether a note is of this text, and signed by every one of these keys. */
export function vouchesFor(note: string | null, text: string, keys: readonly VerifierKey[]): boolean {
  const opened = note === null ? undefined : openNote(note, keys);
  return opened?.kind === 'open' && opened.text === text && keys.every((key) => opened.by.includes(key));
}

function isSignature(message: Uint8Array, { key }: VerifierKey, { signature }: NoteSignature): boolean {
  return signature.length === SIGNATURE_BYTES && verify(null, message, key, signature);
}

function readNote(note: string): { text: string; signatures: NoteSignature[] } | OpenedNote {
  if (note.length > MAX_NOTE_LENGTH) return malformed('it is too long');
  if (!isText(note)) return malformed('it holds characters that a note must not hold, or does not end with a newline');
  // A text may have empty lines of its own: the last one is where the signatures begin.
  const end = note.lastIndexOf('\n\n') + 1;
  const block = note.slice(end + 1);
  if (end === 0 || block === '') return { kind: 'unsigned' };
  const lines = block.slice(0, -1).split('\n');
  if (lines.length > MAX_SIGNATURES) return malformed('it has too many signatures');
  // A line that is repeated says nothing more, and is not checked again.
  const signatures = [...new Set(lines)].map(readSignature);
  if (!signatures.every((one) => one !== undefined)) {
    return lines.some((line) => line.startsWith(LINE_START)) ? malformed('a signature line is not one') : { kind: 'unsigned' };
  }
  return { text: note.slice(0, end), signatures };
}

function readSignature(line: string): NoteSignature | undefined {
  if (!line.startsWith(LINE_START)) return undefined;
  const [name, encoded, ...more] = line.slice(LINE_START.length).split(' ');
  if (name === undefined || encoded === undefined || more.length > 0 || !NAME.test(name)) return undefined;
  const bytes = canonicalBase64(encoded);
  if (!bytes || bytes.length <= ID_BYTES) return undefined;
  return { name, id: bytes.subarray(0, ID_BYTES).toString('hex'), signature: bytes.subarray(ID_BYTES) };
}

function isText(text: string): boolean {
  return text.endsWith('\n') && !CONTROL.test(text) && !LONE_SURROGATE.test(text);
}

function malformed(detail: string): OpenedNote {
  return { kind: 'malformed', detail };
}

/** The first 4 bytes of SHA-256(name ‖ newline ‖ algorithm ‖ key), in hex. */
function keyId(name: string, typed: Uint8Array): string {
  return hash('sha256', Buffer.concat([Buffer.from(`${name}\n`, 'utf8'), typed]), 'hex').slice(0, 2 * ID_BYTES);
}

/** The algorithm's byte and the 32 bytes of the public half. */
function typedKey(key: KeyObject): Buffer {
  const spki = createPublicKey(key).export({ format: 'der', type: 'spki' });
  return Buffer.concat([Buffer.of(ED25519), spki.subarray(-KEY_BYTES)]);
}

function canonicalBase64(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64');
  return bytes.toString('base64') === text ? bytes : undefined;
}
