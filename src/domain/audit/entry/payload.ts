import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '../../json.js';
import { jcs } from './jcs.js';

/** An entry's payload after parsing: what every version-1 payload holds. */
export interface Payload {
  readonly v: 1;
  readonly id: string;
  readonly event: string;
  readonly actorId: string;
  readonly organizationId: string;
  readonly outcome?: string;
  readonly timestamp: string;
  readonly origin?: JsonObject;
  readonly metadata: JsonObject;
}

/** A member of the payload that carries commitments, and how: one for the whole value, or one for each member. */
export interface Commitment {
  /** Steps from the payload's root: `['metadata', 'input']`. */
  readonly steps: readonly [string, string];
  readonly kind: 'value' | 'members';
  readonly digests: readonly string[];
}

const REQUIRED = ['actorId', 'event', 'id', 'metadata', 'organizationId', 'timestamp', 'v'];
const KNOWN = new Set([...REQUIRED, 'origin', 'outcome']);
const TEXTS = ['actorId', 'event', 'id', 'organizationId', 'timestamp'];
/** A time, as a payload and its column have it. */
export const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const DIGEST = /^[A-Za-z0-9_-]{43}$/;

/** Reads a payload strictly: canonical text, exactly the members of version 1. Otherwise a sentence that says what is wrong. */
export function readPayload(text: string): Payload | string {
  const parsed = parseCanonical(text);
  if (parsed === undefined) return 'its payload is not canonical JSON';
  if (!isJsonObject(parsed)) return 'its payload is not an object';
  if (parsed['v'] !== 1) return 'its payload has an unknown version';
  for (const name of REQUIRED) if (!Object.hasOwn(parsed, name)) return `its payload lacks ${name}`;
  for (const name of Object.keys(parsed)) if (!KNOWN.has(name)) return 'its payload has a member that does not belong there';
  for (const name of TEXTS) if (typeof parsed[name] !== 'string') return `its payload has a wrong ${name}`;
  if (!TIMESTAMP.test(parsed['timestamp'] as string)) return 'its payload has a wrong timestamp';
  if (!isJsonObject(parsed['metadata'])) return 'its metadata is not an object';
  if (Object.hasOwn(parsed, 'outcome') && typeof parsed['outcome'] !== 'string') return 'its payload has a wrong outcome';
  if (Object.hasOwn(parsed, 'origin') && !isJsonObject(parsed['origin'])) return 'its origin is not an object';
  return parsed as unknown as Payload;
}

/** The metadata of a stored payload; empty where the payload cannot be read. */
export function metadataOf(text: string): JsonObject {
  const payload = readPayload(text);
  return typeof payload === 'string' ? {} : payload.metadata;
}

/** Parses JSON that equals its own RFC 8785 form; undefined for any other text. So a text has one reading, in every language. */
export function parseCanonical(text: string): JsonValue | undefined {
  try {
    const parsed = parseJson(text);
    return isPlainlyCanonical(parsed, text) || jcs(parsed) === text ? parsed : undefined;
  } catch {
    return undefined;
  }
}

/** Strings of printable ASCII without an escape, whole numbers, and what has only one spelling anyway: most values of a log. */
const PLAINLY_CANONICAL = /^(?:"[ !#-[\]-~]*"|0|-?[1-9]\d{0,14}|true|false|null)$/;

/** Whether a text is JSON that equals its own RFC 8785 form. */
export function isCanonical(text: string): boolean {
  return PLAINLY_CANONICAL.test(text) || parseCanonical(text) !== undefined;
}

/** Whether the engine writes a text the same way, with sorted names; no for some canonical texts, as with names "10" and "2". */
function isPlainlyCanonical(parsed: JsonValue, text: string): boolean {
  // An escaped lone surrogate is written the same way, and has no canonical form.
  return !text.includes('\\ud') && JSON.stringify(parsed) === text && namesAreSorted(parsed);
}

function namesAreSorted(parsed: JsonValue): boolean {
  if (typeof parsed !== 'object' || parsed === null) return true;
  if (Array.isArray(parsed)) return parsed.every(namesAreSorted);
  let previous: string | undefined;
  for (const name of Object.keys(parsed)) {
    if (previous !== undefined && name < previous) return false;
    if (!namesAreSorted(parsed[name]!)) return false;
    previous = name;
  }
  return true;
}

/** Every commitment of a payload: in the members of `metadata` and `origin`, never deeper. Otherwise what is wrong. */
export function commitmentsOf(payload: Payload): Commitment[] | string {
  const found: Commitment[] = [];
  for (const container of ['metadata', 'origin'] as const) {
    const part = payload[container];
    if (!part) continue;
    for (const [name, member] of Object.entries(part)) {
      const commitment = readCommitment([container, name], member);
      if (typeof commitment === 'string') return commitment;
      if (commitment) found.push(commitment);
    }
  }
  return found;
}

function readCommitment(steps: [string, string], member: JsonValue): Commitment | string | undefined {
  const where = `${steps[0]}.${steps[1]}`;
  if (!isJsonObject(member) || !(Object.hasOwn(member, '~') || Object.hasOwn(member, '~members'))) {
    return hidesCommitment(member) ? `a commitment stands too deep in ${where}` : undefined;
  }
  const { '~': whole, '~members': digests } = member;
  const isAlone = Object.keys(member).length === 1;
  if (isAlone && whole !== undefined && isDigest(whole)) return { steps, kind: 'value', digests: [whole] };
  const isSorted = Array.isArray(digests) && digests.every((one, n) => isDigest(one) && (n === 0 || one > digests[n - 1]!));
  return isAlone && isSorted ? { steps, kind: 'members', digests: digests as string[] } : `${where} is no well-formed commitment`;
}

function isDigest(value: JsonValue): value is string {
  return typeof value === 'string' && DIGEST.test(value);
}

function hidesCommitment(member: JsonValue): boolean {
  if (typeof member !== 'object' || member === null) return false;
  if (Array.isArray(member)) return member.some(hidesCommitment);
  return Object.entries(member).some(([key, inner]) => key === '~' || key === '~members' || hidesCommitment(inner));
}
