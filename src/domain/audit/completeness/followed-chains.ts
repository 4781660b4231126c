import { chainKey, type ChainRef } from '../entry/chain.js';
import type { OpenEntry } from '../entry/open-entry.js';
import type { StoredEntry } from '../entry/stored-entry.js';
import type { RecordedState } from './recorded-state.js';

/** Feeds each chain's entries, in order, to a new RecordedState. Chains come one after another. */
export class FollowedChains {
  private current: { key: string; records: RecordedState } | undefined;
  private readonly seen = new Set<string>();

  /** @param begin makes the recorded state of the chain whose first entry this is */
  constructor(private readonly begin: (first: StoredEntry) => RecordedState) {}

  /** @param opened undefined where the entry is not sound: it counts as seen, and records nothing */
  entry(stored: StoredEntry, opened: OpenEntry | undefined): void {
    const key = chainKey(stored);
    if (this.current?.key !== key) {
      this.end();
      this.seen.add(key);
      this.current = { key, records: this.begin(stored) };
    }
    if (opened) this.current.records.entry(opened);
  }

  end(): void {
    const { current } = this;
    this.current = undefined;
    current?.records.end();
  }

  hasSeen(ref: ChainRef): boolean {
    return this.seen.has(chainKey(ref));
  }
}
