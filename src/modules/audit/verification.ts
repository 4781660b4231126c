import type { Break } from '../../domain/audit/breaks.js';
import type { LogSource, ShownAnchor } from '../../domain/audit/entry-source.js';
import { verifyLog, type LogFound, type VerifyOptions } from '../../domain/audit/verify.js';
import type { JsonObject } from '../../domain/json.js';

/** `valid_unanchored`: nothing is wrong, and the newest entries are under no checkpoint yet. */
export type Verdict = 'valid' | 'valid_unanchored' | 'tampered';

/** What a verification was held against: the newest checkpoint of the platform's tree, and what the anchors have of it. */
export interface VerifiedCheckpoint {
  readonly origin: string;
  readonly size: number;
  readonly root: string;
  readonly madeAt: string;
  readonly note: string;
  readonly anchors: readonly { readonly name: string; readonly size: number }[];
}

export interface Verification {
  readonly valid: boolean;
  readonly verdict: Verdict;
  readonly chains: number;
  readonly entries: number;
  /** Entries that no checkpoint covers yet. */
  readonly uncovered: number;
  readonly checkpoint: VerifiedCheckpoint | null;
  /** At most `MAX_BREAKS`. */
  readonly breaks: readonly Break[];
  readonly breaksFound: number;
  readonly durationMs: number;
  /** What judges beside it have to say. */
  readonly members: JsonObject;
  /** Newest checkpoints of the trees that were read, for whoever remembers them. */
  readonly notes: readonly string[];
}

/** Runs a verification to its end. The server and the command line share it; they differ in where the rows come from. */
export async function verification(source: LogSource, begun: number, options: VerifyOptions): Promise<Verification> {
  return outcomeOf(await verifyLog(source, options), options.anchors ?? [], begun);
}

/** @param begun of `performance.now()` */
export function outcomeOf(found: LogFound, anchors: readonly ShownAnchor[], begun: number): Verification {
  const { chains, entries, uncovered, breaks, breaksFound, members, notes } = found;
  const durationMs = Math.round(performance.now() - begun);
  const checkpoint = checkpointOf(found, anchors);
  return { ...verdictOf(found), chains, entries, uncovered, checkpoint, breaks, breaksFound, durationMs, members, notes };
}

function verdictOf({ breaksFound, uncovered, checkpoint }: LogFound): Pick<Verification, 'valid' | 'verdict'> {
  if (breaksFound > 0) return { valid: false, verdict: 'tampered' };
  return { valid: true, verdict: uncovered === 0 && checkpoint ? 'valid' : 'valid_unanchored' };
}

function checkpointOf({ checkpoint, instance }: LogFound, anchors: readonly ShownAnchor[]): VerifiedCheckpoint | null {
  if (!checkpoint) return null;
  const { organizationId, size, root, madeAt, note } = checkpoint;
  const known = anchors.map((one) => ({ name: one.name, size: one.size }));
  return { origin: `${instance}/${organizationId}`, size, root, madeAt, note, anchors: known };
}
