import type { ItemOutcome } from '../../../platform/database/batching/batcher.js';
import { unavailable } from '../../../platform/http/reply/failure.js';
import { Problem } from '../../../platform/http/reply/problem.js';
import type { AdmissionAnswer, AdmissionItem } from './admission-item.js';

type Outcome = ItemOutcome<AdmissionAnswer>;

/** How long an item waits when somebody else has the lock of its agent's head, or its organization's barrier. */
const BUSY_PAUSE_MS = 5;
/** What the database could not do it is asked again after a pause that doubles, up to this one. */
const LONGEST_PAUSE_MS = 500;

/** What was in the way of one call is in the way of those that wait behind it. */
const SHARED_FOR_MS = 10_000;

const TOO_LATE = new Problem('UNAVAILABLE', 'The call could not be decided in time; nothing was done.', {
  headers: { 'Retry-After': '1' },
});

/** Why calls are tried again, so that one whose time runs out meanwhile is told what was in its way. */
export class DelayedCalls {
  private readonly delays = new WeakMap<AdmissionItem, { failures: number; because: unknown }>();
  private newest: { because: unknown; at: number } | undefined;

  /** Somebody else has a lock. */
  busy(item: AdmissionItem): Outcome {
    this.delays.set(item, { failures: 0, because: unavailable('lock-held') });
    return { kind: 'again', afterMs: BUSY_PAUSE_MS };
  }

  /** The database could not do it. */
  failed(item: AdmissionItem, because: unknown): Outcome {
    const failures = (this.delays.get(item)?.failures ?? 0) + 1;
    this.delays.set(item, { failures, because });
    this.newest = { because, at: performance.now() };
    return { kind: 'again', afterMs: Math.min(LONGEST_PAUSE_MS, BUSY_PAUSE_MS * 2 ** failures) };
  }

  tooLate(item: AdmissionItem): Outcome {
    return { kind: 'error', error: this.delays.get(item)?.because ?? this.lately ?? TOO_LATE };
  }

  private get lately(): unknown {
    return this.newest !== undefined && performance.now() - this.newest.at < SHARED_FOR_MS ? this.newest.because : undefined;
  }
}
