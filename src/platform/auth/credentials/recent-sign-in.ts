import type { UserCredential } from '../access/principal.js';

const FRESH_MS = 600_000;

/**
 * Whether somebody has come in so recently that it is still they: a browser that was left open is anybody's. The session's time is the
 * database's; what a clock is off by here is of no weight.
 */
export function isRecentSignIn(credential: UserCredential, now: number = Date.now()): boolean {
  return credential.kind === 'session' && now - credential.createdAt.getTime() <= FRESH_MS;
}
