/** Why something cannot be decided anew: what it rests on was erased, was swept, or is a count that the log does not keep. */
export type Unplayable = 'erased' | 'swept' | 'limits';

export type ReplayResult =
  | { readonly kind: 'right' }
  | { readonly kind: 'not_replayable'; readonly because: Unplayable }
  | { readonly kind: 'wrong'; readonly detail: string };

export const RIGHT: ReplayResult = { kind: 'right' };
export const notReplayable = (because: Unplayable): ReplayResult => ({ kind: 'not_replayable', because });
export const wrong = (detail: string): ReplayResult => ({ kind: 'wrong', detail });

/** What a swept part of the log would have to tell. */
export const UNKNOWN = Symbol('unknown');
export type Unknown = typeof UNKNOWN;

/** What is unknown is taken for what holds where nothing is told, or for whatever would make the decision right. */
export type Reading = 'as told' | 'at best';

/** The one place where what was swept excuses a decision: where it is wrong by what is left, and need not have been. */
export function readTwice(decide: (reading: Reading) => ReplayResult): ReplayResult {
  const recorded = decide('as told');
  if (recorded.kind !== 'wrong' || decide('at best').kind === 'wrong') return recorded;
  return notReplayable('swept');
}
