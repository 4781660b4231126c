import { isJsonObject } from '../json.js';
import { inTree, missing, type Break } from './breaks.js';
import { organizationChain } from './chain.js';
import type { ShownSeam } from './entry-source.js';
import type { Notable } from './verify-entries.js';
import type { OrganizationTreeFound, PlatformFound } from './verify-tree.js';

/**
 * The first survivor of a cut chain is never believed: the sweep's own entry, found sound, must say where the chain was cut, and rest
 * on a checkpoint that is older than itself and holds everything that went.
 */
export function* againstSweeps(
  seams: readonly ShownSeam[], tree: OrganizationTreeFound | undefined, sweeps: readonly Notable[], platform: PlatformFound,
): Generator<Break> {
  for (const seam of seams) {
    const wrong = wrongWith(seam, tree, sweeps, platform);
    if (wrong !== undefined) yield missing(seam.chain, 1, seam.seq, 'deleted', wrong);
  }
  if (!tree || seams.length === 0) return;
  const said = seams.reduce((sum, { count }) => sum + count, 0);
  if (tree.swept.count !== said) {
    yield inTree(tree.tree, tree.swept.count, 'deleted', `lacks the entries of ${tree.swept.count} leaves; sweeps speak of ${said}`);
  }
  const provenTo = seams.reduce((most, { checkpoint }) => Math.max(most, checkpoint.size), 0);
  if (tree.swept.to > provenTo) {
    yield inTree(tree.tree, provenTo, 'deleted', 'lacks entries of leaves that no checkpoint held when they were swept');
  }
}

function wrongWith(
  seam: ShownSeam, tree: OrganizationTreeFound | undefined, sweeps: readonly Notable[], platform: PlatformFound,
): string | undefined {
  const { organizationId, chain, seq, hash, count, sweepEntryId, checkpoint } = seam;
  const sweep = sweeps.find((one) => one.id === sweepEntryId && one.organizationId === organizationId);
  if (sweep?.chain !== organizationChain(organizationId).chain) return 'they were cut off, and no entry of a sweep accounts for it';
  const { chains, checkpoint: said } = sweep.metadata;
  const isListed = Array.isArray(chains) && chains.some((one) =>
    isJsonObject(one) && one['chain'] === chain && one['seq'] === seq && one['hash'] === hash && one['count'] === count);
  if (!isListed) return "they were cut off, and the sweep's entry does not list them so";
  const rests = isJsonObject(said) && said['size'] === checkpoint.size && said['root'] === checkpoint.root &&
    said['platformSize'] === checkpoint.platformSize && said['platformRoot'] === checkpoint.platformRoot;
  const isOurs = rests && tree?.roots.get(checkpoint.size) === checkpoint.root &&
    platform.roots.get(checkpoint.platformSize) === checkpoint.platformRoot;
  if (!isOurs) return 'they were cut off at a checkpoint that the trees do not go on from';
  const isOlder = (tree.ownSeq.get(checkpoint.size) ?? 0) >= sweep.seq;
  if (isOlder) return 'they were cut off by a sweep that is older than the checkpoint it names';
  const cut = tree.cutAt.get(chain);
  if (cut?.hash !== hash) return 'the entry at which they were cut off is not the one in the tree';
  return cut.index < checkpoint.size ? undefined : 'they were cut off beyond the checkpoint that was to hold them';
}
