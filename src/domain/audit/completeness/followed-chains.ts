import { chainKey, type ChainRef } from '../entry/chain.js';
import type { OpenEntry } from '../entry/open-entry.js';
import type { StoredEntry } from '../entry/stored-entry.js';
import type { RecordedState } from './recorded-state.js';

/** Hands entries to the recorded state of their chain, one chain after another. */
export class FollowedChains {
  private current: { key: string; records: RecordedState } | undefined;
  private readonly seen = new Set<string>();

  constructor(private readonly begin: (first: StoredEntry) => RecordedState) {}

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
    const last = this.current;
    this.current = undefined;
    last?.records.end();
  }

  hasSeen(ref: ChainRef): boolean {
    return this.seen.has(chainKey(ref));
  }
}
