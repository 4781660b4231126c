import { Problem } from '../../http/reply/problem.js';
import type { Caller, UserCredential } from '../access/principal.js';

const FRESH_MS = 600_000;

/**
 * Whether somebody has come in so recently that it is still they: a browser that was left open is anybody's. The session's time is the
 * database's; what a clock is off by here is of no weight.
 */
export function isRecentSignIn(credential: UserCredential, now: number = Date.now()): boolean {
  return credential.kind === 'session' && now - credential.createdAt.getTime() <= FRESH_MS;
}

/**
 * A key outlives every session, so a browser that was left open, or a cookie that was taken, makes none.
 *
 * @param what the key that is to be made
 * @throws Problem FORBIDDEN
 */
export function assertRecentSignIn({ principal }: Caller, what: string): void {
  if (principal.kind !== 'user' || principal.credential.kind !== 'session' || isRecentSignIn(principal.credential)) return;
  throw new Problem('FORBIDDEN', `Sign in again first: ${what} is made within ten minutes of signing in.`);
}
