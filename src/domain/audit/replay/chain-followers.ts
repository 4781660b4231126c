import type { StoredEntry } from '../entry/stored-entry.js';
import type { OpenEntry } from '../entry/open-entry.js';
import type { RecordedState } from '../completeness/recorded-state.js';

/** Hands entries to who follows their chain, one chain after another. */
export class FollowedChains {
  private current: { key: string; records: RecordedState } | undefined;
  private readonly seen = new Set<string>();

  constructor(private readonly begin: (first: StoredEntry) => RecordedState) {}

  entry(stored: StoredEntry, opened: OpenEntry | undefined): void {
    const key = chainKey(stored.organizationId, stored.chain);
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

  hasSeen(organizationId: string, chain: string): boolean {
    return this.seen.has(chainKey(organizationId, chain));
  }
}

/** A chain's name among those of all organizations: a transferred agent's has a segment in several. */
export function chainKey(organizationId: string, chain: string): string {
  return `${organizationId} ${chain}`;
}
