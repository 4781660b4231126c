import { Problem } from '../../../platform/http/reply/problem.js';
import type { Note } from './form-parts.js';

/** What became of a form, as the path of the next page names it. */
const DONE = {
  'signed-out': 'You are signed out.',
  'session-ended': 'That session has ended.',
  'passkey-added': 'The passkey is ready. You can sign in with it from now on.',
  'passkey-removed': 'The passkey is removed. Delete it on your device too.',
  'password-set': 'The new password holds. You are signed out everywhere else.',
} as const;

export type Done = keyof typeof DONE;

/** Only our own words: an address is anybody's to write. */
export function doneNote(done: unknown): Note | undefined {
  if (typeof done !== 'string' || !Object.hasOwn(DONE, done)) return undefined;
  return { tone: 'good', text: DONE[done as Done] };
}

/** Refusals that the same page can show above its form, for somebody to try again. */
const SHOWN: ReadonlySet<string> = new Set(['VALIDATION_FAILED', 'FORBIDDEN', 'CONFLICT', 'RATE_LIMITED', 'UNAVAILABLE']);

/** A refusal that is shown above the form that it is about. */
export interface Refusal {
  readonly status: number;
  readonly note: Note;
  /** `Retry-After`, for one that ends by itself. */
  readonly headers: Readonly<Record<string, string>>;
}

/** @throws whatever else it is */
export function refusalFrom(error: unknown): Refusal {
  if (!(error instanceof Problem) || !SHOWN.has(error.code)) throw error;
  const [first] = error.extras.errors ?? [];
  const text = first?.pointer === '/password' ? `The password ${first.message}.` : error.message;
  return { status: error.status, note: { tone: 'bad', text }, headers: error.extras.headers ?? {} };
}
