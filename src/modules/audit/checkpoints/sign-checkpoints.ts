import { setImmediate as breathe } from 'node:timers/promises';
import { checkpointText, originOf, PLATFORM_TREE, type StoredCheckpoint } from '../../../domain/audit/notes/checkpoint.js';
import { signNote, type SigningKey } from '../../../domain/audit/notes/note.js';
import type { GrowingTree } from '../../../domain/audit/tree/growing-tree.js';
import { platformLeaf } from '../../../domain/audit/tree/tree-leaf.js';
import type { OrganizationHead } from '../../../domain/audit/tree/organization-map.js';
import { hashText, leafHash } from '../../../domain/audit/tree/rfc6962.js';
import { updateMap } from '../../../domain/audit/tree/stored-map-nodes.js';
import type { RunStatement } from '../../../platform/auth/credentials/credential-source.js';
import { now, organizationsBeyondMap, writeCheckpoints, writeMapNodes } from './checkpoint.store.js';
import { headsUnder, type SignedState, type Signed } from './signed-state.js';
import { mapSourceOf } from './map.query.js';
import { growPlatform, lookUpByKeys } from './tree.store.js';

/** A signature takes some 60 µs. */
const SIGNATURES_BEFORE_BREATH = 32;

export interface RoundOfCheckpoints {
  /** Names the installation: the beginning of every origin. */
  readonly instance: string;
  readonly keys: readonly SigningKey[];
  /** Everything that is signed continues what these know. */
  readonly trees: SignedState;
  /** Organizations that may have grown since the last round; null where that is not known. */
  readonly organizations: readonly string[] | null;
  /** How many organizations are taken at most; what is left is of the next round. Default: all. */
  readonly limit?: number;
  /** Signs also for those that have not grown, as when keys change. */
  readonly forAll?: boolean;
}

export interface MadeCheckpoints {
  /** Of the platform's tree. */
  readonly newest: StoredCheckpoint;
  readonly organizations: readonly string[];
  /** What its trees adopt once it is committed. */
  readonly signed: Signed;
}

/**
 * Takes the heads of organizations that have grown into the map, the map into the platform's tree, and signs all: in one transaction, so
 * that the platform's newest leaf always has the map, and the map every organization's newest checkpoint. The database may keep signatures
 * and refuse the rest: each vouches for nothing but what continues what was signed.
 *
 * @throws LogRewritten where a tree or the map does not continue what was signed; nothing is signed then
 */
export async function makeCheckpoints(run: RunStatement, round: RoundOfCheckpoints): Promise<MadeCheckpoints> {
  await lookUpByKeys(run);
  const grown = await grownHeads(run, round);
  const { before, root: map, nodes } = await updateMap(mapSourceOf(run), grown);
  round.trees.assertMap(before);
  if (nodes.length > 0) await writeMapNodes(run, nodes);
  const madeAt = (await now(run)).toISOString();
  const platform = await round.trees.platform(run);
  await grow(run, platform, platformLeaf({ map: hashText(map), timestamp: madeAt }));
  const heads = round.forAll ? await headsUnder(run, map) : grown;
  const top = { organization: PLATFORM_TREE, size: platform.size, root: hashText(platform.root) };
  const checkpoints = await signAll([...heads, top], round, platform.size, madeAt);
  await writeCheckpoints(run, checkpoints);
  return {
    newest: checkpoints.at(-1)!,
    organizations: heads.map(({ organization }) => organization),
    signed: { platform, map },
  };
}

/** From what is known of the trees, and not from what the database says of them meanwhile. */
async function grownHeads(run: RunStatement, { organizations, limit, trees }: RoundOfCheckpoints): Promise<OrganizationHead[]> {
  const names = organizations?.slice(0, limit) ?? (await organizationsBeyondMap(run, limit ?? null));
  const heads: OrganizationHead[] = [];
  for (const organization of names) {
    const { size, root } = await trees.of(run, organization);
    heads.push({ organization, size, root: hashText(root) });
  }
  return heads;
}

/** Signs heads as they stand; the platform's comes last. */
export async function signAll(
  heads: readonly OrganizationHead[],
  { instance, keys }: Pick<RoundOfCheckpoints, 'instance' | 'keys'>,
  platformSize: number,
  madeAt: string,
): Promise<StoredCheckpoint[]> {
  const made: StoredCheckpoint[] = [];
  for (const { organization, size, root } of heads) {
    const note = signNote(checkpointText({ origin: originOf(instance, organization), size, root }), keys);
    made.push({ organizationId: organization, size, root, note, platformSize, madeAt });
    if (made.length % SIGNATURES_BEFORE_BREATH === 0) await breathe();
  }
  return made;
}

async function grow(run: RunStatement, platform: GrowingTree, data: string): Promise<void> {
  const from = platform.size;
  const full = platform.append(leafHash(data));
  const tile = full ? { tileRoot: Buffer.from(full).toString('hex') } : {};
  await growPlatform(run, { from, root: hashText(platform.root), data, ...tile });
}
