import type { ItemOutcome } from '../../../platform/database/batching/batcher.js';
import { unavailable } from '../../../platform/http/reply/failure.js';
import { Problem } from '../../../platform/http/reply/problem.js';
import type { AdmissionAnswer, AdmissionItem } from './admission-item.js';

type Outcome = ItemOutcome<AdmissionAnswer>;

/** How long an item waits when somebody else has the lock of its agent's head, or its organization's barrier. */
const BUSY_PAUSE_MS = 5;
/** What the database could not do it is asked again after a pause that doubles, up to this one. */
const LONGEST_PAUSE_MS = 500;

export const TOO_LATE: Outcome = {
  kind: 'error',
  error: new Problem('UNAVAILABLE', 'The call could not be decided in time; nothing was done.', { headers: { 'Retry-After': '1' } }),
};

/** Why calls are tried again, so that one whose time runs out meanwhile is told what was in its way. */
export class DelayedCalls {
  private readonly delays = new WeakMap<AdmissionItem, { failures: number; because: unknown }>();

  /** Somebody else has a lock. */
  busy(item: AdmissionItem): Outcome {
    this.delays.set(item, { failures: 0, because: unavailable('lock-held') });
    return { kind: 'again', afterMs: BUSY_PAUSE_MS };
  }

  /** The database could not do it. */
  failed(item: AdmissionItem, because: unknown): Outcome {
    const failures = (this.delays.get(item)?.failures ?? 0) + 1;
    this.delays.set(item, { failures, because });
    return { kind: 'again', afterMs: Math.min(LONGEST_PAUSE_MS, BUSY_PAUSE_MS * 2 ** failures) };
  }

  tooLate(item: AdmissionItem): Outcome {
    const because = this.delays.get(item)?.because;
    return because === undefined ? TOO_LATE : { kind: 'error', error: because };
  }
}
