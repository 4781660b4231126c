import type { CutPointRow } from '../../../domain/audit/integrity/log-source.js';
import type { DecodedCutPoint } from '../../../domain/audit/integrity/row-decoding.js';

/** A checkpoint below which a retention run cuts, and the platform's that carries it. */
export type RetentionCheckpoint = CutPointRow['checkpoint'];

/** A cut point of a recorded retention run. */
export type RecordedCutPoint = Pick<CutPointRow, 'chain' | 'seq' | 'hash' | 'count' | 'sweepEntryId' | 'note'>;

export type RetentionRunState = 'writing' | 'verified' | 'recorded' | 'done';

/** One retention run of one organization, as it is stored. */
export interface RetentionRun {
  readonly organizationId: string;
  readonly id: string;
  readonly state: RetentionRunState;
  /** ISO 8601: what is swept was under a checkpoint before. */
  readonly before: string;
  readonly cuts: readonly DecodedCutPoint[];
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
