import { originOf, PLATFORM_TREE } from '../../../domain/audit/notes/checkpoint.js';
import {
  type LostCheckpoint, signRecovery, waiveCheckpoint, type WaivedCheckpoint,
} from '../../../domain/audit/notes/waived-checkpoint.js';
import { verifierKey } from '../../../domain/audit/notes/note.js';
import type { Anchor } from '../../../platform/audit/anchor.js';
import type { RunStatement } from '../../../platform/auth/credentials/credential-source.js';
import { StartRefused } from '../../../platform/config/start-refused.js';
import { instanceName } from '../checkpoints/checkpoint.query.js';
import { otherKey, signerOf } from '../keys/signer.js';
import { compare, type Comparison } from './compare-anchor.js';

/** How each anchor stands to this database, for whoever is about to give up what it misses. */
export async function compareAll(run: RunStatement, anchors: readonly Anchor[], seed: string | undefined): Promise<Comparison[]> {
  const instance = await instanceName(run);
  const key = seed === undefined ? undefined : verifierKey(instance, seed);
  return Promise.all(anchors.map((anchor) => compare(run, instance, anchor, key)));
}

/**
 * Signs that these are given up: nobody's word counts but that of the key that signs.
 *
 * @throws StartRefused where there is none here, or another one signs
 */
export async function signLosses(
  run: RunStatement, lost: readonly LostCheckpoint[], seed: string | undefined,
): Promise<WaivedCheckpoint[]> {
  if (lost.length === 0) return [];
  if (seed === undefined) throw new StartRefused('AUDIT_SIGNING_KEY is not set: a loss is accepted by the key that signs checkpoints');
  const signer = await signerOf(run, seed);
  const other = await otherKey(run, signer);
  if (other) throw new StartRefused(other.message);
  return lost.map((one) => waiveCheckpoint(one, [signer.key]));
}

/** Signs that the installation was recovered: running servers believe no other word. */
export async function recoverySigner(run: RunStatement, seed: string): Promise<(at: Date) => string> {
  const { key } = await signerOf(run, seed);
  return (at) => signRecovery(at, key);
}

/** The checkpoints that anchors have and this database has not; one without a root is known by its size. */
export function lostOf(compared: readonly Comparison[]): LostCheckpoint[] {
  const lost = compared.flatMap((one) => (one.kind === 'contradicts' ? [one.anchored] : []));
  const known = lost.filter(({ root }) => root !== undefined);
  const distinct = new Map(
    lost
      .filter(({ size, root }) => root !== undefined || !known.some((one) => one.size === size))
      .map(({ size, root = '' }) => [`${size} ${root}`, { size, root }]),
  );
  return [...distinct.values()];
}

/** Lets the anchors that can go on with another history do so. */
export async function waiveCheckpoints(run: RunStatement, compared: readonly Comparison[]): Promise<void> {
  const origin = originOf(await instanceName(run), PLATFORM_TREE);
  for (const one of compared) {
    if (one.kind === 'contradicts' || one.kind === 'excused') await one.anchor.giveUp?.(origin, one.anchored);
  }
}
