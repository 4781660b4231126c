import { setImmediate as breathe } from 'node:timers/promises';
import { checkpointText, originOf, PLATFORM_TREE, type StoredCheckpoint } from '../../../domain/audit/checkpoint.js';
import { signNote, type SigningKey } from '../../../domain/audit/note.js';
import { platformLeaf } from '../../../domain/audit/tree/leaf.js';
import type { OrganizationHead } from '../../../domain/audit/tree/map.js';
import { hashText, leafHash } from '../../../domain/audit/tree/rfc6962.js';
import { updateMap } from '../../../domain/audit/tree/stored-map.js';
import type { RunStatement } from '../../../platform/auth/credential-source.js';
import { headsBeyondMap, now, writeCheckpoints, writeMapNodes } from './checkpoint.store.js';
import { storedTree } from './integrator.js';
import { mapHeads, mapSourceOf } from './map.query.js';
import { reading } from './reading.js';
import { growPlatform, lookUpByKeys } from './tree.store.js';

/** A signature takes some 60 µs. */
const SIGNATURES_BEFORE_BREATH = 32;

export interface RoundOfCheckpoints {
  /** Names the installation: the beginning of every origin. */
  readonly instance: string;
  readonly keys: readonly SigningKey[];
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
  /** Organizations that this round signed for. */
  readonly organizations: readonly string[];
}

/**
 * Takes the heads of organizations that have grown into the map, the map into the platform's tree, and signs them all. In one
 * transaction, so that the map is always that of the platform's newest leaf, and every organization's newest checkpoint is in it.
 * Nothing of it leaves the process before it is committed.
 */
export async function makeCheckpoints(run: RunStatement, round: RoundOfCheckpoints): Promise<MadeCheckpoints> {
  await lookUpByKeys(run);
  const grown = await headsBeyondMap(run, round.organizations, round.limit ?? null);
  const { root: map, nodes } = await updateMap(mapSourceOf(reading(run)), grown);
  if (nodes.length > 0) await writeMapNodes(run, nodes);
  const madeAt = (await now(run)).toISOString();
  const platform = await appendToPlatform(run, platformLeaf({ map: hashText(map), timestamp: madeAt }));
  const heads = round.forAll ? await mapHeads(reading(run)) : grown;
  const checkpoints = await signAll([...heads, platform], round, platform.size, madeAt);
  await writeCheckpoints(run, checkpoints);
  return { newest: checkpoints.at(-1)!, organizations: heads.map(({ organization }) => organization) };
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

async function appendToPlatform(run: RunStatement, data: string): Promise<OrganizationHead> {
  const tree = await storedTree(run, PLATFORM_TREE);
  const from = tree.size;
  const full = tree.append(leafHash(data));
  const root = hashText(tree.root);
  await growPlatform(run, { from, root, data, ...(full ? { tileRoot: Buffer.from(full).toString('hex') } : {}) });
  return { organization: PLATFORM_TREE, size: tree.size, root };
}
