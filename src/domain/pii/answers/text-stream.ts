import type { EntityCounts } from '../entity-types.js';

/** Text that comes in pieces and goes out changed, held back as little as possible. */
export interface TextStream {
  /** Takes the next piece, and answers what may go out now; empty where it is held back. */
  push(piece: string): string;
  /** What was held back. Nothing is pushed afterwards. */
  end(): string;
}

/** One that replaces what it finds. */
export interface ScanningStream extends TextStream {
  /** What was found so far; after `end`, in the whole text. */
  readonly counts: EntityCounts;
}
