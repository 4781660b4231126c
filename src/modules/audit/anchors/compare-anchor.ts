import { PLATFORM_TREE, originOf } from '../../../domain/audit/notes/checkpoint.js';
import type { Anchor, Anchored } from '../../../platform/audit/anchor.js';
import type { ReadStatement } from '../../../platform/audit/record-keepers.js';
import { acceptedLosses } from './anchor-state.query.js';
import { ourTree, rootAt } from '../proofs/proof.query.js';

/** How an anchor stands to this database. */
export type Comparison =
  | { readonly kind: 'agrees'; readonly anchor: Anchor; readonly anchored?: Anchored }
  /** What it has is of a history that was given up. */
  | { readonly kind: 'excused'; readonly anchor: Anchor; readonly anchored: Anchored }
  | { readonly kind: 'contradicts'; readonly anchor: Anchor; readonly anchored: Anchored; readonly ourSize: number }
  | { readonly kind: 'silent'; readonly anchor: Anchor; readonly error: unknown };

/**
 * Compares the newest checkpoint that an anchor has with the platform's tree of this database.
 *
 * @param verifierKey by which losses were accepted, as C2SP text; undefined where it is not known, and none counts
 */
export async function compare(run: ReadStatement, instance: string, anchor: Anchor, verifierKey: string | undefined): Promise<Comparison> {
  let found: Comparison;
  try {
    found = await look(run, instance, anchor);
    // Between our look at the tree and the anchor's answer another server may have signed and published.
    if (found.kind === 'contradicts') found = await look(run, instance, anchor);
  } catch (error) {
    return { kind: 'silent', anchor, error };
  }
  if (found.kind !== 'contradicts' || verifierKey === undefined) return found;
  const losses = await acceptedLosses(run, instance, verifierKey);
  const { anchored } = found;
  return losses.some((lost) => isSame(lost, anchored)) ? { kind: 'excused', anchor, anchored } : found;
}

async function look(run: ReadStatement, instance: string, anchor: Anchor): Promise<Comparison> {
  const shown = await ourTree(run);
  const anchored = await anchor.newest(originOf(instance, PLATFORM_TREE), shown);
  if (!anchored || anchored.size === 0) return { kind: 'agrees', anchor };
  // Read again: what an anchor has was committed here before, so that it cannot be ahead of this.
  const ours = await ourTree(run);
  const ourSize = ours?.newest.size ?? 0;
  if (anchored.size <= ourSize && anchored.root !== undefined && (await rootAt(run, anchored.size)) === anchored.root) {
    return { kind: 'agrees', anchor, anchored };
  }
  return { kind: 'contradicts', anchor, anchored, ourSize };
}

/** An anchor that has only a size is excused by that size. */
function isSame(lost: Anchored, anchored: Anchored): boolean {
  const { root } = anchored;
  return lost.size === anchored.size && (root === undefined || lost.root === undefined || lost.root === root);
}

/** What is wrong, and what to do about it: anybody may read it, so that the anchor, a folder or an address, stands beside it in the log. */
export function contradictionText({ anchor, anchored, ourSize }: Extract<Comparison, { kind: 'contradicts' }>): string {
  const what = anchored.size > ourSize
    ? `has a checkpoint of ${anchored.size} rounds of the log, and this database only ${ourSize}: it is older than what was anchored (a `
      + 'backup, or a standby that was behind when it was promoted)'
    : `has a checkpoint of ${anchored.size} rounds of the log that is of another history than this database's`;
  const [kind] = anchor.name.split(':');
  return `The anchor (${kind}) ${what}. Put the right database back; or, if what is missing is lost for good, run `
    + '`countersign recover --accept-loss`.';
}
