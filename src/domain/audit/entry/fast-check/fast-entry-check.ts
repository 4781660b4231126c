import { hash } from 'node:crypto';
import { isAgentChain } from '../chain.js';
import {
  areSame, behind, behindPlain, DIGEST_LETTERS, isLower, put, putPlain, readLength, readQuoted, readSalt,
} from './byte-reader.js';
import {
  CLOSE_LIST, CLOSE_OBJECT, COLON, COMMA, isBefore, isPlain, nameEnd, OPEN_LIST, OPEN_OBJECT, plainEnd, QUOTE, UNCLEAR,
} from './json-scanner.js';
import { TIMESTAMP } from '../payload.js';
import { SALT_BYTES } from '../commitments.js';
import type { StoredEntry } from '../stored-entry.js';

// Says "sound" of an entry, or nothing. The two texts of an entry are read once, as bytes, without making objects. An entry that is wrong,
// unusual or rare goes the long way (`check-entry.ts`), which takes three times as long and has the last word; properties hold that it
// finds nothing in an entry that is sound here.

/** Longer texts go the long way. */
const ROOM = 128 * 1024;
/** Bytes of UTF-8 that one unit of UTF-16 comes to at most. */
const UTF8_PER_UNIT = 3;
/** What stands in the hashed text beside the payload. */
const FRAME = 1_024;
const MAX_COMMITMENTS = 64;
const MAX_MEMBERS = 256;
/** `"`, a digest, `"` and `,`. */
const DIGEST_STEP = DIGEST_LETTERS + 3;
const SLASH = 0x2f;
const TILDE = 0x7e;
const MAX_ASCII = 0x7f;

// Nothing here is asynchronous, so each is used by one entry at a time. A message is shorter than the disclosure it is read from.
const hashed = Buffer.alloc(ROOM + FRAME);
const disclosed = Buffer.alloc(ROOM);
const message = Buffer.alloc(ROOM);
const used = new Uint8Array(MAX_MEMBERS);

/** The commitments of the entry at hand, in the order of the payload; all positions are in `hashed`. */
const commitments = {
  length: 0,
  inOrigin: new Uint8Array(MAX_COMMITMENTS),
  /** Where the name's opening quote stands. */
  name: new Int32Array(MAX_COMMITMENTS),
  ofMembers: new Uint8Array(MAX_COMMITMENTS),
  /** Where the first digest begins. */
  digests: new Int32Array(MAX_COMMITMENTS),
  count: new Int32Array(MAX_COMMITMENTS),
};

/** Whether an entry is plainly sound: hash, columns, canonical texts, each commitment opened, nothing erased. False says nothing. */
export function passesFastCheck(entry: StoredEntry): boolean {
  const { chain, agentId, capability, payload, disclosures, prevHash } = entry;
  if ((isAgentChain(chain) ? chain : null) !== (agentId ?? null)) return false;
  if (Math.max(payload.length, disclosures.length) * UTF8_PER_UNIT >= ROOM) return false;
  if (Math.max(chain.length, capability?.length ?? 0, prevHash?.length ?? 0) > FRAME / 4) return false;
  let at = put(hashed, 0, '{');
  if (typeof agentId === 'string') at = member(at, '"agentId":"', agentId);
  if (typeof capability === 'string') at = member(at, '"capability":"', capability);
  at = put(hashed, at, '"payload":');
  if (at === UNCLEAR) return false;
  const from = at;
  at += hashed.write(payload, at, 'utf8');
  // Stops every reading: no text of JSON holds it.
  hashed[at] = 0;
  if (payloadEnd(from, entry) !== at) return false;
  if (typeof prevHash === 'string') at = put(hashed, putPlain(hashed, put(hashed, at, ',"prevHash":"'), prevHash), '"');
  at = put(hashed, at, '}');
  return at !== UNCLEAR && hash('sha256', hashed.subarray(0, at), 'hex') === entry.hash && isOpened(disclosures);
}

function member(at: number, lead: string, text: string): number {
  return put(hashed, putPlain(hashed, put(hashed, at, lead), text), '",');
}

/** Where a payload of version 1 ends that says what the columns say. RFC 8785 puts its members in this order. */
function payloadEnd(from: number, { actorId, event, id, organizationId, outcome, timestamp }: StoredEntry): number {
  if (!TIMESTAMP.test(timestamp)) return UNCLEAR;
  commitments.length = 0;
  let at = behindPlain(hashed, behind(hashed, from, '{"actorId":"'), actorId);
  at = behindPlain(hashed, behind(hashed, at, '","event":"'), event);
  at = behindPlain(hashed, behind(hashed, at, '","id":"'), id);
  at = containerEnd(behind(hashed, at, '","metadata":'), 0);
  at = behindPlain(hashed, behind(hashed, at, ',"organizationId":"'), organizationId);
  at = behind(hashed, at, '",');
  const origin = behind(hashed, at, '"origin":');
  if (origin !== UNCLEAR) at = behind(hashed, containerEnd(origin, 1), ',');
  if (typeof outcome === 'string') at = behind(hashed, behindPlain(hashed, behind(hashed, at, '"outcome":"'), outcome), '",');
  return behind(hashed, behindPlain(hashed, behind(hashed, at, '"timestamp":"'), timestamp), '","v":1}');
}

/** Where `metadata` or `origin` ends. Its commitments are noted. */
function containerEnd(at: number, inOrigin: number): number {
  if (at === UNCLEAR || hashed[at] !== OPEN_OBJECT) return UNCLEAR;
  if (hashed[at + 1] === CLOSE_OBJECT) return at + 2;
  let previous = UNCLEAR;
  for (let name = at + 1; ; ) {
    const colon = nameEnd(hashed, name);
    if (colon === UNCLEAR || hashed[colon] !== COLON) return UNCLEAR;
    if (previous !== UNCLEAR && !isBefore(hashed, previous, name)) return UNCLEAR;
    const value = colon + 1;
    const isCommitment = hashed[value] === OPEN_OBJECT && hashed[value + 2] === TILDE;
    const end = isCommitment ? commitmentEnd(value, name, inOrigin) : plainEnd(hashed, value);
    if (end === UNCLEAR) return UNCLEAR;
    if (hashed[end] === CLOSE_OBJECT) return end + 1;
    if (hashed[end] !== COMMA) return UNCLEAR;
    previous = name;
    name = end + 1;
  }
}

/** Letters of digests are not looked at: each must turn out to be one that was computed. */
function commitmentEnd(at: number, name: number, inOrigin: number): number {
  const n = commitments.length++;
  if (n === MAX_COMMITMENTS) return UNCLEAR;
  commitments.name[n] = name;
  commitments.inOrigin[n] = inOrigin;
  const whole = behind(hashed, at, '{"~":"');
  if (whole !== UNCLEAR) {
    commitments.ofMembers[n] = 0;
    commitments.digests[n] = whole;
    commitments.count[n] = 1;
    return isElsewhere(n, whole) ? UNCLEAR : behind(hashed, whole + DIGEST_LETTERS, '"}');
  }
  const list = behind(hashed, at, '{"~members":[');
  if (list === UNCLEAR) return UNCLEAR;
  commitments.ofMembers[n] = 1;
  commitments.digests[n] = list + 1;
  commitments.count[n] = 0;
  if (hashed[list] === CLOSE_LIST) return behind(hashed, list, ']}');
  for (let count = 1, digest = list + 1; count <= MAX_MEMBERS; count++, digest += DIGEST_STEP) {
    const end = digest + DIGEST_LETTERS;
    if (hashed[digest - 1] !== QUOTE || hashed[end] !== QUOTE || isElsewhere(n, digest)) return UNCLEAR;
    if (count > 1 && !isLower(hashed, digest - DIGEST_STEP, digest)) return UNCLEAR;
    if (hashed[end + 1] === COMMA) continue;
    commitments.count[n] = count;
    return behind(hashed, end + 1, ']}');
  }
  return UNCLEAR;
}

/** Whether a digest stands in a commitment before this one, too. */
function isElsewhere(before: number, digest: number): boolean {
  for (let n = 0; n < before; n++) {
    const end = commitments.digests[n]! + commitments.count[n]! * DIGEST_STEP;
    for (let other = commitments.digests[n]!; other < end; other += DIGEST_STEP) {
      if (areSame(hashed, digest, hashed, other, DIGEST_LETTERS)) return true;
    }
  }
  return false;
}

/** Whether the disclosures open all commitments, each once, in their order. */
function isOpened(disclosures: string): boolean {
  const end = disclosed.write(disclosures, 0, 'utf8');
  disclosed[end] = 0;
  if (disclosed[0] !== OPEN_LIST) return false;
  let at = 1;
  let previous = UNCLEAR;
  for (let n = 0; n < commitments.length; n++) {
    const count = commitments.count[n]!;
    used.fill(0, 0, count);
    for (let left = count; left > 0; left--) {
      if (previous !== UNCLEAR && disclosed[at++] !== COMMA) return false;
      const d = behind(disclosed, at, '{"d":"');
      if (d === UNCLEAR) return false;
      const pointer = behind(disclosed, d + DIGEST_LETTERS, '","pointer":');
      if (pointer === UNCLEAR || (previous !== UNCLEAR && !isBefore(disclosed, previous, pointer))) return false;
      previous = pointer;
      at = disclosureEnd(n, d, pointer);
      if (at === UNCLEAR) return false;
    }
  }
  return disclosed[at] === CLOSE_LIST && at + 1 === end;
}

/** Where a disclosure ends that stands in the place of a commitment and opens one of its digests that no other has opened. */
function disclosureEnd(n: number, d: number, pointer: number): number {
  let at = pointerStepEnd(n, behind(disclosed, pointer, commitments.inOrigin[n] === 1 ? '"/origin/' : '"/metadata/'));
  if (at === UNCLEAR) return UNCLEAR;
  let from: number = SALT_BYTES;
  if (commitments.ofMembers[n] === 1) {
    if (disclosed[at] !== SLASH) return UNCLEAR;
    const key = ++at;
    while (isStepLetter(disclosed[at]!)) at++;
    from = put(message, from, '["');
    for (let letter = key; letter < at; letter++) message[from++] = disclosed[letter]!;
    from = put(message, from, '",');
  }
  at = readSalt(disclosed, behind(disclosed, at, '","salt":"'), message);
  at = readQuoted(disclosed, behind(disclosed, at, '","value":"'), message, from);
  if (at === UNCLEAR) return UNCLEAR;
  let to = from + readLength;
  message[to] = 0;
  if (plainEnd(message, from) !== to) return UNCLEAR;
  if (commitments.ofMembers[n] === 1) message[to++] = CLOSE_LIST;
  return opens(n, d, to) ? behind(disclosed, at, '"}') : UNCLEAR;
}

/** Behind the name of a commitment, as the second step of a pointer. */
function pointerStepEnd(n: number, from: number): number {
  if (from === UNCLEAR) return UNCLEAR;
  let at = from;
  for (let letter = commitments.name[n]! + 1; hashed[letter] !== QUOTE; letter++) {
    if (!isStepLetter(hashed[letter]!) || disclosed[at++] !== hashed[letter]) return UNCLEAR;
  }
  return at;
}

/** What a pointer's step holds as it is. */
function isStepLetter(byte: number): boolean {
  return byte <= MAX_ASCII && isPlain(byte) && byte !== SLASH && byte !== TILDE;
}

/** Whether salt and text, which end at `to`, have the digest that the disclosure names, and the commitment has it. */
function opens(n: number, d: number, to: number): boolean {
  const digest = hash('sha256', message.subarray(0, to), 'base64url');
  if (behind(disclosed, d, digest) === UNCLEAR) return false;
  const first = commitments.digests[n]!;
  for (let at = 0; at < commitments.count[n]!; at++) {
    if (used[at] === 1 || !areSame(disclosed, d, hashed, first + at * DIGEST_STEP, DIGEST_LETTERS)) continue;
    used[at] = 1;
    return true;
  }
  return false;
}
