import { originOf, PLATFORM_TREE } from '../../../domain/audit/checkpoint.js';
import type { Anchor } from '../../../platform/audit/anchor.js';
import type { RunStatement } from '../../../platform/auth/credential-source.js';
import { instanceName } from '../trees/checkpoint.query.js';
import { reading } from '../trees/reading.js';
import { compare, type Comparison } from './comparison.js';

/** How each anchor stands to this database, for whoever is about to give up what it misses. */
export async function compareAll(run: RunStatement, anchors: readonly Anchor[]): Promise<Comparison[]> {
  const instance = await instanceName(reading(run));
  return Promise.all(anchors.map((anchor) => compare(reading(run), instance, anchor)));
}

/** The checkpoints that anchors have and this database has not; one that tells no root is known by its size. */
export function lostOf(compared: readonly Comparison[]): { size: number; root: string }[] {
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
export async function giveUp(run: RunStatement, compared: readonly Comparison[]): Promise<void> {
  const origin = originOf(await instanceName(reading(run)), PLATFORM_TREE);
  for (const one of compared) {
    if (one.kind === 'contradicts' || one.kind === 'excused') await one.anchor.giveUp?.(origin, one.anchored);
  }
}
