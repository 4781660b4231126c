/** Where the provider does not say how long its access token is good: RFC 6749 leaves it open. */
const UNSAID_SECONDS = 300;
const SOONEST_SECONDS = 30;
const PART = 0.8;
/** So that sessions that began together do not stay together. */
const SPREAD = 0.1;

const FIRST_PAUSE_SECONDS = 5;
const LONGEST_PAUSE_SECONDS = 600;

/**
 * Seconds until a session's tokens are renewed: well before the access token ends, and at most twice a minute.
 *
 * @param expiresIn seconds for which the access token is good (RFC 6749, section 5.1)
 * @param random from 0 to 1
 */
export function renewalIn(expiresIn: number | undefined, random: number = Math.random()): number {
  const part = (expiresIn ?? UNSAID_SECONDS) * PART;
  return Math.max(SOONEST_SECONDS, part * (1 - SPREAD + 2 * SPREAD * random));
}

/** Seconds until a renewal that has failed so often is tried again: 5, 10, 20 … up to ten minutes. */
export function retryIn(failures: number): number {
  return Math.min(LONGEST_PAUSE_SECONDS, FIRST_PAUSE_SECONDS * 2 ** Math.max(0, failures - 1));
}
