import type { ServerResponse } from 'node:http';
import { Problem } from '../http/reply/problem.js';
import type { QuotaAnswer } from './leased-quotas.js';

/** Windows are minutes: each begins with the first call after the last one ended. */
export const WINDOW_SECONDS = 60;

/** Names of the two limits, as the headers and the counts know them. */
export type Policy = 'address' | 'principal';

/** Calls in a window, calls left and seconds until it ends, as draft-ietf-httpapi-ratelimit-headers has them. */
export function rateHeaders(policy: Policy, limit: number, { remaining, endsInMs }: QuotaAnswer): Record<string, string> {
  return {
    'RateLimit-Policy': `"${policy}";q=${limit};w=${WINDOW_SECONDS}`,
    RateLimit: `"${policy}";r=${remaining};t=${seconds(endsInMs)}`,
  };
}

export function showRate(response: ServerResponse, policy: Policy, limit: number, answer: QuotaAnswer): void {
  const headers = rateHeaders(policy, limit, answer);
  for (const name in headers) response.setHeader(name, headers[name]!);
}

const DETAILS: Readonly<Record<Policy, (limit: number, wait: number) => string>> = {
  principal: (limit, wait) => `An agent, a user or root may make ${limit} calls a minute each. Call again in ${wait} s.`,
  address: (limit, wait) =>
    `An address may make ${limit} calls a minute that show no good credential. Send one, or call again in ${wait} s.`,
};

/** Names its own limit: a call that its principal's limit let through may be refused by its address's later. */
export function limited(policy: Policy, limit: number, answer: QuotaAnswer): Problem {
  const wait = seconds(answer.endsInMs);
  const headers = { ...rateHeaders(policy, limit, answer), 'Retry-After': String(wait) };
  return new Problem('RATE_LIMITED', DETAILS[policy](limit, wait), { headers });
}

function seconds(milliseconds: number): number {
  return Math.max(1, Math.ceil(milliseconds / 1_000));
}
