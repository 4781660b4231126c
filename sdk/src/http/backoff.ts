const BASE_MS = 200;
const MOST_MS = 10_000;

/** Full jitter: anywhere between nothing and a bound that doubles with each attempt, so that callers do not come back together. */
export function backoffMs(attempt: number, base = BASE_MS): number {
  return Math.random() * Math.min(MOST_MS, base * 2 ** attempt);
}

/** Milliseconds of a Retry-After header, in seconds or as a date (RFC 9110, section 10.2.3). */
export function retryAfterMs(headers: Headers): number | undefined {
  const text = headers.get('retry-after');
  if (text === null) return undefined;
  const ms = /^\d+$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - Date.now();
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined;
}
