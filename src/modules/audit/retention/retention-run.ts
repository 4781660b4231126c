/** A checkpoint below which a retention run cuts, and the platform's that carries it. Roots in base64. */
export interface RetentionCheckpoint {
  readonly size: number;
  readonly root: string;
  readonly platformSize: number;
  readonly platformRoot: string;
}

/** Where a chain was cut: the last entry that went, and how many are gone for good in this organization, with those before. */
export interface ChainCutPoint {
  readonly chain: string;
  readonly seq: number;
  readonly hash: string;
  readonly count: number;
  /** The entry that says so; there once the retention run is recorded. */
  readonly sweepEntryId?: string;
}

/** A cut point of a recorded retention run. */
export interface RecordedCutPoint extends Required<ChainCutPoint> {
  /** The signature over that entry. */
  readonly note: string | null;
}

export type RetentionRunState = 'writing' | 'verified' | 'recorded' | 'done';

/** One retention run of one organization, as it is stored. */
export interface RetentionRun {
  readonly organizationId: string;
  readonly id: string;
  readonly state: RetentionRunState;
  /** ISO 8601: what is swept was under a checkpoint before. */
  readonly before: string;
  readonly cuts: readonly ChainCutPoint[];
  readonly checkpoint: RetentionCheckpoint & {
    /** Below this leaf of the tree nothing is left: where the next retention run begins to look. */
    readonly next?: number;
    /** How long the organization's chain was when the entries were read: what is erased behind it is not in the archive. */
    readonly readAt?: number;
  };
  /** Digests of the archive's objects, hex. */
  readonly skeleton: string | null;
  readonly disclosures: string | null;
  /** Of each of its entries, by id, the note that the server's key has signed; once it is recorded. */
  readonly notes?: Readonly<Record<string, string>>;
  /** False where its row does not say all that it should. */
  readonly isReadable?: boolean;
}

/** One process of all retention runs at a time. */
export const RETENTION_LOCK = 715_517_008;

/** Why a retention run ended: an entry is not as it was written, or the archive is not as it should be. Nothing was deleted. */
export class RetentionRefused extends Error {
  override readonly name = 'RetentionRefused';
}
