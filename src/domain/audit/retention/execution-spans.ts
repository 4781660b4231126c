import { getOrInsert } from '../../collections.js';
import type { StoredEntry } from '../entry/stored-entry.js';
import type { ExecutionSpan, Span } from './cut-point.js';

/** The members of an entry that name its execution or request, and whether that has ended. */
export interface PositionedEvent extends Pick<StoredEntry, 'chain' | 'seq' | 'event'> {
  readonly executionId: string | null;
  readonly hitlId: string | null;
  /** Of a timeout: what was applied. */
  readonly action: string | null;
}

const ENDINGS: ReadonlySet<string> = new Set([
  'execution.completed', 'execution.failed', 'execution.blocked', 'execution.cancelled', 'execution.settled',
  'hitl.rejected', 'hitl.cancelled',
]);
/** By these a timeout ends a request; by others it goes on. */
const ENDING_TIMEOUTS: ReadonlySet<string | null> = new Set(['reject', 'notify_only']);

/**
 * Gathers the given entries of each execution, together with its request. One without an end among them is open, so its entries stay; an
 * indeterminate one has ended.
 */
export function executionSpansOf(events: readonly PositionedEvent[]): ExecutionSpan[] {
  // The entry that asks names both; of what follows some name the request alone.
  const executionOf = new Map<string, string>();
  for (const { executionId, hitlId } of events) if (executionId !== null && hitlId !== null) executionOf.set(hitlId, executionId);
  const gathered = new Map<string, { readonly spans: Map<string, { first: number; last: number }>; ended: boolean }>();
  for (const { chain, seq, event, executionId, hitlId, action } of events) {
    const name = executionId ?? (hitlId === null ? undefined : (executionOf.get(hitlId) ?? hitlId));
    if (name === undefined) continue;
    const one = getOrInsert(gathered, name, () => ({ spans: new Map<string, { first: number; last: number }>(), ended: false }));
    one.ended ||= ENDINGS.has(event) || (event === 'hitl.timed_out' && ENDING_TIMEOUTS.has(action));
    const { first, last } = one.spans.get(chain) ?? { first: seq, last: seq };
    one.spans.set(chain, { first: Math.min(first, seq), last: Math.max(last, seq) });
  }
  return [...gathered.values()].map(({ spans, ended }) => ({
    spans: [...spans].map(([chain, { first, last }]): Span => ({ chain, first, last })),
    open: !ended,
  }));
}
