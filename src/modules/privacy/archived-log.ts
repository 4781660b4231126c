import type { Tx } from '../../platform/database/tx.js';

/** A swept entry, with its values as the log stored them. */
export interface ArchivedEntry {
  readonly id: string;
  readonly hash: string;
  readonly event: string;
  readonly payload: string;
  /** Its disclosures. */
  readonly text: string;
}

/** What sweeps of an organization have an archive: those recorded, by which values left the log, and others that come to nothing. */
export interface ArchivedSweeps {
  readonly recorded: readonly string[];
  readonly unfinished: readonly string[];
}

/** An organization's archives, while nobody else rewrites them. */
export interface OpenArchives {
  /** How many are not there any more. */
  readonly gone: number;
  entries(): AsyncIterable<ArchivedEntry>;
  /** Gives entries other disclosures, or the same. @returns how many entries have others now */
  rewrite(change: (entry: ArchivedEntry) => string): Promise<number>;
}

/** The committed values of swept entries: erased like those in the database. */
export interface ArchivedLog {
  /** Under the head of the organization's chain none is recorded beside. */
  sweeps(tx: Tx, organizationId: string): Promise<ArchivedSweeps>;
  /** @throws UnderWay where something is swept, or another process has opened them; Error where nothing can be written there */
  open<Result>(
    organizationId: string, sweeps: ArchivedSweeps, work: (archives: OpenArchives) => Promise<Result>,
  ): Promise<Result>;
}

/** Nest injection token of the {@link ArchivedLog}. */
export const ARCHIVED_LOG = Symbol('ARCHIVED_LOG');
