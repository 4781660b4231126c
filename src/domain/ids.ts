import { randomFillSync } from 'node:crypto';

/**
 * Type prefixes of every identifier the service makes, and what each is the id of, in words for people (interface, section 2; from
 * `grt` on they are ours).
 */
export const ID_NAMES = {
  agt: 'an agent', org: 'an organization', ten: 'a tenant', usr: 'a user', hitl: 'a request', audit: 'an audit entry', exec: 'an execution',
  task: 'a task', sess: 'a session', grt: 'a grant', team: 'a team', rte: 'a routing decision', ntf: 'a notification', dlv: 'a delivery',
  stp: 'a stop', key: 'a personal key', inv: 'an invitation', stk: 'a setup token', ers: 'an erasure', swp: 'a sweep', pky: 'a passkey',
  cha: 'a chat account',
} as const;

export type IdPrefix = keyof typeof ID_NAMES;

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const TIME_CHARACTERS = 10;
const RANDOM_CHARACTERS = 26;

// Random bytes are drawn in blocks: one system call serves a few hundred ids, which shows on the hot path.
const pool = Buffer.alloc(RANDOM_CHARACTERS * 256);
let used = pool.length;

// Put together byte by byte and made a string once: four ids are made for each execution.
const characters = Buffer.alloc(TIME_CHARACTERS + RANDOM_CHARACTERS);

const TICKS_PER_MILLISECOND = 256;
const LAST_TICK = ALPHABET.length ** TIME_CHARACTERS - 1;
/** So far ids go on ahead of a clock that stands, or was set back. A larger step is a time that is asked for. */
const AHEAD_MS = 1_000;
let lastTick = 0;

/** Rises with each id, so that they sort as they were made: those of one millisecond too, however many there are. */
function nextTick(now: number): number {
  const tick = now * TICKS_PER_MILLISECOND;
  const isAhead = lastTick >= tick && lastTick < tick + AHEAD_MS * TICKS_PER_MILLISECOND;
  lastTick = isAhead ? lastTick + 1 : tick;
  return lastTick;
}

/**
 * Makes an identifier: prefix, 50 bits of time (milliseconds, and a count that goes on into the next ones) and 130 random bits in
 * Crockford's base32, so that ids made later sort later and none can be guessed. Opaque to everyone else.
 */
export function newId(prefix: IdPrefix, now: number = Date.now()): string {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  for (let rest = nextTick(now), i = TIME_CHARACTERS - 1; i >= 0; i--) {
    characters[i] = ALPHABET.charCodeAt(rest % 32);
    rest = Math.floor(rest / 32);
  }
  for (let i = TIME_CHARACTERS; i < characters.length; i++) characters[i] = ALPHABET.charCodeAt(pool[used++]! & 31);
  return `${prefix}_${characters.toString('latin1')}`;
}

/**
 * The least text that an id of this type made at this time, or later, can be: ids and such texts sort by time. Ids can express times up
 * to the year 2109; for a later time the answer is that of the last one.
 */
export function firstIdAt(prefix: IdPrefix, time: number): string {
  let text = '';
  for (let rest = Math.min(Math.max(0, time) * TICKS_PER_MILLISECOND, LAST_TICK), i = 0; i < TIME_CHARACTERS; i++) {
    text = ALPHABET[rest % 32]! + text;
    rest = Math.floor(rest / 32);
  }
  return `${prefix}_${text}`;
}

const FORM = /^[a-z]+_[0-9a-z]{10,64}$/;

/** Whether a text could be an id of this type. Says nothing about whether it exists. */
export function isId(prefix: IdPrefix, text: unknown): text is string {
  return typeof text === 'string' && text.startsWith(`${prefix}_`) && FORM.test(text);
}
