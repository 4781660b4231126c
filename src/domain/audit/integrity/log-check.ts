import type { JsonObject } from '../../json.js';
import type { Finding } from './findings.js';
import type { StoredEntry } from '../entry/stored-entry.js';

/**
 * Looks at a log beside the pass that verifies its chains: whether it is complete, whether the gate was right. Given each chain's
 * entries together and in their order; chains may come in any order. It checks what entries say, and leaves to the pass whether
 * they are what was written: an entry that cannot be read is none of its business.
 */
export interface LogCheck {
  /** @returns what to wait for before the next entry, where the check reads something first */
  entry(entry: StoredEntry): void | Promise<void>;
  /** After the last entry, within the same reading. */
  end(): Promise<LogCheckResult>;
}

export interface LogCheckResult {
  /** At most as many as an answer shows. */
  readonly breaks: readonly Finding[];
  readonly breaksFound: number;
  /** What it adds to the answer of a verification, under the names there. */
  readonly members: JsonObject;
}
