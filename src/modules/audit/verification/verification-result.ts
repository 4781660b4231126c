import type { LogSource, ShownAnchor } from '../../../domain/audit/integrity/log-source.js';
import { verifyLog, type LogFound, type VerifyOptions } from '../../../domain/audit/integrity/verify-log.js';
import type { AnchorNotCompared } from '../anchors/ask-anchors.js';

/** `valid_unanchored`: nothing is wrong, and the newest entries are under no checkpoint yet. */
export type Verdict = 'valid' | 'valid_unanchored' | 'tampered';

/** What the log was compared with: the newest checkpoint of the platform's tree, and what the anchors have of it. */
export interface VerifiedCheckpoint {
  readonly origin: string;
  readonly size: number;
  readonly root: string;
  readonly madeAt: string;
  readonly note: string;
  readonly anchors: readonly { readonly name: string; readonly size: number }[];
}

/** What a verification reports; `members` are what the checks of completeness and replay add. */
export interface Verification extends Omit<LogFound, 'checkpoint' | 'instance'> {
  readonly valid: boolean;
  readonly verdict: Verdict;
  readonly checkpoint: VerifiedCheckpoint | null;
  /** Anchors that say nothing of this log, and why. */
  readonly anchorsNotCompared: readonly AnchorNotCompared[];
  readonly durationMs: number;
}

/** What is compared with anchors, and which were not to be had. */
export interface VerificationOptions extends VerifyOptions {
  readonly anchorsNotCompared?: readonly AnchorNotCompared[];
}

/**
 * Runs a verification to its end. The server and the command line share it; they differ in where the rows come from.
 *
 * @param begun of `performance.now()`
 */
export async function verification(source: LogSource, begun: number, options: VerificationOptions): Promise<Verification> {
  const found = await verifyLog(source, options);
  const { instance: _, checkpoint: _newest, ...members } = found;
  const { anchors = [], anchorsNotCompared = [] } = options;
  const durationMs = Math.round(performance.now() - begun);
  return { ...verdictOf(found), ...members, checkpoint: checkpointOf(found, anchors), anchorsNotCompared, durationMs };
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
