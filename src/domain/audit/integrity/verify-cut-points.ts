import { isJsonObject } from '../../json.js';
import { findingInTree, missingEntries, type Finding } from './findings.js';
import { organizationChain } from '../entry/chain.js';
import type { CutPointRow } from './log-source.js';
import { listsCutPoint, type SignedStatement } from '../notes/authorization-note.js';
import type { Notable } from './verify-entries.js';
import type { OrganizationTreeFound, PlatformFound } from '../tree/verify-tree.js';

/** Whether the key that signs now has signed the retention run's entry. */
export type IsAuthorizedCut = (cutPoint: CutPointRow, recorded: SignedStatement) => boolean;

interface ReadOfCuts {
  readonly tree: OrganizationTreeFound | undefined;
  readonly sweeps: readonly Notable[];
  readonly platform: PlatformFound;
  readonly isOrdered: IsAuthorizedCut;
}

/**
 * The first survivor of a cut chain is never believed: a sound and signed entry of the run must name the cut, and rest on a checkpoint
 * that is older than itself and holds everything that went. Anybody who may append can append such an entry.
 */
export function* findUnrecordedCutPoints(cutPoints: readonly CutPointRow[], read: ReadOfCuts): Generator<Finding> {
  const { tree } = read;
  for (const cutPoint of cutPoints) {
    const wrong = wrongWith(cutPoint, read);
    if (wrong !== undefined) yield missingEntries(cutPoint.chain, 1, cutPoint.seq, 'deleted', wrong);
  }
  if (!tree || cutPoints.length === 0) return;
  const said = cutPoints.reduce((sum, { count }) => sum + count, 0);
  if (tree.swept.count !== said) {
    yield findingInTree(tree.tree, tree.swept.count, 'deleted', `lacks the entries of ${tree.swept.count} leaves; sweeps speak of ${said}`);
  }
  const provenTo = cutPoints.reduce((most, { checkpoint }) => Math.max(most, checkpoint.size), 0);
  if (tree.swept.to > provenTo) {
    yield findingInTree(tree.tree, provenTo, 'deleted', 'lacks entries of leaves that no checkpoint held when they were swept');
  }
}

function wrongWith(cutPoint: CutPointRow, { tree, sweeps, platform, isOrdered }: ReadOfCuts): string | undefined {
  const { organizationId, chain, hash, sweepEntryId, checkpoint } = cutPoint;
  const sweep = sweeps.find((one) => one.id === sweepEntryId && one.organizationId === organizationId);
  if (sweep?.chain !== organizationChain(organizationId).chain) return 'they were cut off, and no entry of a sweep accounts for it';
  const { checkpoint: said, before } = sweep.metadata;
  if (!listsCutPoint(sweep.metadata, cutPoint)) return "they were cut off, and the sweep's entry does not list them so";
  if (!isOrdered(cutPoint, sweep)) {
    return 'they were cut off, and what the entry of the sweep says is not signed by the key that signs now: no server has ordered it';
  }
  const rests = isJsonObject(said) && said['size'] === checkpoint.size && said['root'] === checkpoint.root &&
    said['platformSize'] === checkpoint.platformSize && said['platformRoot'] === checkpoint.platformRoot;
  const isOurs = rests && tree?.roots.get(checkpoint.size) === checkpoint.root &&
    platform.roots.get(checkpoint.platformSize) === checkpoint.platformRoot;
  if (!isOurs) return 'they were cut off at a checkpoint that the trees do not go on from';
  const madeAt = platform.times.get(checkpoint.platformSize);
  const isYounger = typeof before !== 'string' || (madeAt !== undefined && madeAt >= before);
  if (isYounger) return 'they were cut off at a checkpoint that was younger than what the sweep was to take';
  const isOlder = (tree.ownSeq.get(checkpoint.size) ?? 0) >= sweep.seq;
  if (isOlder) return 'they were cut off by a sweep that is older than the checkpoint it names';
  const cut = tree.cutAt.get(chain);
  if (cut?.hash !== hash) return 'the entry at which they were cut off is not the one in the tree';
  return cut.index < checkpoint.size ? undefined : 'they were cut off beyond the checkpoint that was to hold them';
}
