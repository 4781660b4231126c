/** Why a decision cannot be replayed: its facts were erased or swept, or are counts that the log does not keep. */
export type Unplayable = 'erased' | 'swept' | 'limits';

export type ReplayResult =
  | { readonly kind: 'right' }
  | { readonly kind: 'not_replayable'; readonly because: Unplayable }
  | { readonly kind: 'wrong'; readonly detail: string };

export const RIGHT: ReplayResult = { kind: 'right' };
export const notReplayable = (because: Unplayable): ReplayResult => ({ kind: 'not_replayable', because });
export const wrong = (detail: string): ReplayResult => ({ kind: 'wrong', detail });

/** A fact that only a swept part of the log has. */
export const UNKNOWN = Symbol('unknown');
export type Unknown = typeof UNKNOWN;

/** An unknown fact counts as absent, or as whichever would make the decision right. */
export type Reading = 'as recorded' | 'at best';

/** The one place where sweeps excuse a decision: it is wrong by the facts that are left, and may have been right. */
export function readTwice(decide: (reading: Reading) => ReplayResult): ReplayResult {
  const recorded = decide('as recorded');
  if (recorded.kind !== 'wrong' || decide('at best').kind === 'wrong') return recorded;
  return notReplayable('swept');
}
