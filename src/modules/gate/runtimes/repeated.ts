import { setTimeout as wait } from 'node:timers/promises';
import type { OutboundOutcome } from '../../../platform/outbound/outbound-guard.js';
import type { RuntimeOutcome } from './runtime.js';

export const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 5_000;
/** Connections are tried this often, so that a fallback still has time to serve. */
const CONNECTION_ATTEMPTS = 3;
// The receiver, or something before it, asks to be called again.
const PASSING = new Set([408, 425, 429, 500, 502, 503, 504]);

/** One try of a call: what it means, and the exchange that says whether another one is of use. */
export interface Attempt {
  readonly outcome: RuntimeOutcome;
  readonly exchange?: OutboundOutcome;
}

export interface Repetition {
  /** Whether the receiver recognizes the key of a call that it gets twice. */
  readonly isIdempotent: boolean;
  /** Milliseconds until the call is given up. */
  readonly left: () => number;
  readonly firstPauseMs: number;
  readonly signal: AbortSignal;
}

/** Makes a call once, or until it is answered for good where its receiver honours the key, with longer and longer pauses. */
export async function repeated(
  once: (timeoutMs: number) => Promise<Attempt>, { isIdempotent, left, firstPauseMs, signal }: Repetition,
): Promise<RuntimeOutcome> {
  let mayHaveActed: RuntimeOutcome | undefined;
  for (let attempt = 1, pause = firstPauseMs; ; attempt++, pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
    const { outcome, exchange } = await once(left());
    if (outcome.kind === 'executed') return outcome;
    // What an earlier attempt left open stays open: a later refusal may be the answer to a duplicate.
    if (outcome.kind === 'unknown') mayHaveActed = outcome;
    const isUseful = exchange !== undefined && worthRepeating(exchange, attempt);
    if (!isIdempotent || !isUseful || signal.aborted || left() <= pause) return mayHaveActed ?? outcome;
    await wait(pause, undefined, { signal }).catch(() => undefined);
  }
}

function worthRepeating(exchange: OutboundOutcome, attempt: number): boolean {
  if (exchange.kind === 'answered') return PASSING.has(exchange.status) || exchange.problem === 'CONNECTION_LOST';
  if (exchange.kind === 'unknown') return exchange.code === 'CONNECTION_LOST';
  return (exchange.code === 'CONNECT' || exchange.code === 'DNS') && attempt < CONNECTION_ATTEMPTS;
}
