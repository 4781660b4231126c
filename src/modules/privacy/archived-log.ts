/** The committed values of swept entries, in the archive: rewritten like those in the database. */
export interface ArchivedLog {
  /** Disclosures as they are stored, of every archived entry of an organization. */
  of(organizationId: string): AsyncIterable<{ readonly id: string; readonly hash: string; readonly text: string }>;
  /** Gives archived entries other disclosures: `change` gets an entry's hash and its disclosures, and answers those to keep. */
  rewrite(organizationId: string, change: (entryHash: string, text: string) => string): Promise<{ readonly entries: number }>;
}

/** Nest injection token of the {@link ArchivedLog}; without one, nothing has been swept. */
export const ARCHIVED_LOG = Symbol('ARCHIVED_LOG');
