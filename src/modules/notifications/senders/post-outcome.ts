import type { OutboundOutcome, OutboundRequest } from '../../../platform/outbound/outbound-guard.js';
import type { SendOutcome } from './sender.js';

const TIMEOUT_MS = 10_000;
const ANSWER_BYTES = 65_536;
/** However long a receiver asks for. */
export const LONGEST_PAUSE_MS = 3_600_000;

export interface Post {
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The address is of the operator's environment. */
  readonly trusted: boolean;
  readonly timeoutMs?: number;
}

/** A post of JSON within the bounds of every channel. */
export function postOf({ body, headers, trusted, timeoutMs = TIMEOUT_MS }: Post): OutboundRequest {
  return {
    method: 'POST', body, trusted, timeoutMs, maxBytes: ANSWER_BYTES,
    headers: { 'content-type': 'application/json; charset=utf-8', ...headers },
  };
}

/**
 * What an answer means for a delivery. Only a whole answer of 2xx is one: whoever hangs up in the middle may not have read either. Every
 * other status is tried again, since receivers are mended; 410 says that nobody wants it any more (Standard Webhooks).
 */
export function outcomeOfPost(exchange: OutboundOutcome): SendOutcome {
  if (exchange.kind !== 'answered') {
    return { kind: exchange.code === 'UNSAFE_URL' ? 'dead' : 'retry', code: exchange.code };
  }
  const { status, problem, headers } = exchange;
  if (status === 410) return { kind: 'gone', code: 'HTTP_410' };
  if (status < 200 || status > 299) return retry(`HTTP_${status}`, headers['retry-after']);
  return problem === undefined ? { kind: 'delivered' } : { kind: 'retry', code: problem };
}

/** @param retryAfter as the receiver said it (RFC 9110, section 10.2.3): seconds or a date */
export function retry(code: string, retryAfter?: string): SendOutcome {
  const afterMs = retryAfter === undefined ? undefined : pauseOf(retryAfter.trim());
  return { kind: 'retry', code, ...(afterMs === undefined ? {} : { afterMs }) };
}

function pauseOf(text: string): number | undefined {
  const asked = /^\d{1,9}$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - Date.now();
  return Number.isNaN(asked) ? undefined : Math.min(Math.max(0, asked), LONGEST_PAUSE_MS);
}
