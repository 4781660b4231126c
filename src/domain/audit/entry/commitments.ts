import { createHash, hash, randomFillSync } from 'node:crypto';
import { isJsonObject } from '../../json.js';
import { jcs, jcsString } from './jcs.js';
import { pointerToken } from './json-pointer.js';

/**
 * Salted commitments, as in SD-JWT: the payload carries a digest, and the value beside it can be erased without touching any hash. Each
 * digest has its own salt, so that nobody can test guesses.
 */
export const SALT_BYTES = 16;

/** A members object with more members than this is committed whole. */
export const MAX_COMMITTED_MEMBERS = 64;

/** What stands beside the payload for one digest: a salt, and the value's canonical text or the mark of an erasure. */
export interface Disclosure {
  readonly d: string;
  /** RFC 6901, from the payload's root. */
  readonly pointer: string;
  /** base64url of exactly 16 bytes: the value's, once that is erased its blank's. */
  readonly salt: string;
  /** The value's canonical text; absent once erased. */
  readonly value?: string;
  readonly erased?: true;
}

// Salts are drawn in blocks: one system call serves 512 of them. A used block is overwritten by the next draw.
const pool = Buffer.alloc(SALT_BYTES * 512);
let used = pool.length;

// One scratch buffer joins salt and text for hashing; nothing here is asynchronous, so it is never shared.
const scratch = Buffer.alloc(16 * 1024);

/** Commits to a whole value; appends its disclosure and returns the canonical text of the commitment, `{"~":d}`. */
export function commitValue(value: unknown, pointer: string, disclosures: Disclosure[]): string {
  const text = jcs(value);
  return `{"~":"${commit(text, text, pointer, disclosures)}"}`;
}

/** Commits to each member by itself: `{"~members":[d, …]}`, sorted. No object, or one of over 64 members, is committed whole. */
export function commitMembers(value: unknown, pointer: string, disclosures: Disclosure[]): string {
  if (!isJsonObject(value)) return commitValue(value, pointer, disclosures);
  // Sorted, so that disclosures are made in the order in which they are stored.
  const keys = Object.keys(value).sort();
  if (keys.length > MAX_COMMITTED_MEMBERS) return commitValue(value, pointer, disclosures);
  const digests = keys.map((key) => {
    const text = jcs(value[key]);
    return commit(`[${jcsString(key)},${text}]`, text, `${pointer}/${pointerToken(key)}`, disclosures);
  });
  return digests.length === 0 ? '{"~members":[]}' : `{"~members":["${digests.sort().join('","')}"]}`;
}

/** base64url (43 characters) of SHA-256 over the 16 salt bytes and the text. The one-shot `hash` takes half the time of a hash object. */
export function commitmentDigest(salt: Uint8Array, text: string): string {
  // Three bytes is the most that one UTF-16 code unit becomes in UTF-8.
  if (salt.length + text.length * 3 > scratch.length) {
    return createHash('sha256').update(salt).update(text, 'utf8').digest('base64url');
  }
  scratch.set(salt, 0);
  const end = salt.length + scratch.write(text, salt.length, 'utf8');
  return hash('sha256', scratch.subarray(0, end), 'base64url');
}

/** The text a digest stands for: the value itself, or `[key, value]` for a member of an object. */
export function committedText(key: string | undefined, valueText: string): string {
  return key === undefined ? valueText : `[${jcsString(key)},${valueText}]`;
}

/** A disclosure without its value. Its salt, by which one could test guesses, is replaced; erasing again gives the same. */
export function blankOf({ d, salt }: Pick<Disclosure, 'd' | 'salt'>, pointer: string): Disclosure {
  const made = Buffer.from(commitmentDigest(Buffer.from(salt, 'base64url'), `blank ${pointer}`), 'base64url');
  return { d, pointer, salt: made.subarray(0, SALT_BYTES).toString('base64url'), erased: true };
}

/** By which an erasure's entry says where it has left a blank: the name there may be a person's, so this is salted as values are. */
export function pointerDigest({ pointer, salt }: Pick<Disclosure, 'pointer' | 'salt'>): string {
  return commitmentDigest(Buffer.from(salt, 'base64url'), jcsString(pointer));
}

/** The stored text of an entry's disclosures: a JSON array without spaces, sorted by pointer. */
export function disclosuresText(disclosures: Disclosure[]): string {
  disclosures.sort((a, b) => (a.pointer < b.pointer ? -1 : a.pointer > b.pointer ? 1 : 0));
  return `[${disclosures.map(disclosureText).join(',')}]`;
}

function disclosureText({ d, pointer, salt, value }: Disclosure): string {
  const end = value === undefined ? '"erased":true' : `"value":${jcsString(value)}`;
  return `{"d":"${d}","pointer":${jcsString(pointer)},"salt":"${salt}",${end}}`;
}

function commit(text: string, valueText: string, pointer: string, disclosures: Disclosure[]): string {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  const salt = pool.subarray(used, (used += SALT_BYTES));
  const d = commitmentDigest(salt, text);
  disclosures.push({ d, pointer, salt: salt.toString('base64url'), value: valueText });
  return d;
}
