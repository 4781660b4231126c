import { describe, expect, it } from '@jest/globals';
import { append, checkpoint, integrate, type MemoryLog } from '../../../../test/support/memory/memory-log.js';
import { leafHashes, readerAt } from '../../../../test/support/memory/memory-trees.js';
import { agentChain } from '../entry/chain.js';
import { openCheckpoint, originOf, PLATFORM_TREE, type Checkpoint } from '../notes/checkpoint.js';
import { readVerifierKey, signingKey, verifierKey } from '../notes/note.js';
import { entryLeaf, platformLeaf } from './tree-leaf.js';
import { mapRootOver } from '../../../../test/support/memory/map-root-over.js';
import { mapKeyOf, keyedLeaf } from './organization-map.js';
import { checkConsistency, checkInclusion, consistencyProof, inclusionProof } from './tree-proofs.js';
import { hashText, leafHash, readHash } from './rfc6962.js';
import { mapSiblings } from './stored-map-nodes.js';

const NAME = 'countersign-1a2b3c4d5e6f';
const seed = Buffer.alloc(32, 5).toString('base64');
const key = signingKey(NAME, seed);
const known = [readVerifierKey(verifierKey(NAME, seed))!];

function grow(log: MemoryLog, organizationId: string, entries: number): void {
  for (let n = 0; n < entries; n++) {
    const at = log.entries.length;
    append(
      log,
      { chain: agentChain(organizationId, `agt_${at % 3}`), agentId: `agt_${at % 3}`, type: 'agent.activated', metadata: { epoch: at } },
      { id: `audit_${at}`, actorId: 'root', timestamp: new Date(1_795_000_000_000 + at) },
    );
  }
}

describe('a log and its trees, from an entry to the signed head of the platform', () => {
  it('proves every entry, and that each checkpoint continues the one before', async () => {
    const log: MemoryLog = { entries: [], heads: [], leaves: [] };
    const trees = await integrate(log);
    expect(await checkpoint(log, key)).toEqual([]);
    grow(log, 'org_a', 5);
    grow(log, 'org_b', 300);
    const first = await checkpoint(log, key);
    expect(first.map(({ organizationId, size }) => [organizationId, size])).toEqual([['org_a', 5], ['org_b', 300], [PLATFORM_TREE, 1]]);
    grow(log, 'org_b', 7);
    const second = await checkpoint(log, key);
    expect(second.map(({ organizationId, size }) => [organizationId, size])).toEqual([['org_b', 307], [PLATFORM_TREE, 2]]);
    expect(await checkpoint(log, key)).toEqual([]);

    const [ofB, ofPlatform] = [second[0]!, second[1]!].map((one) => {
      const opened = openCheckpoint(one.note, known, originOf(NAME, one.organizationId));
      if ('wrong' in opened) throw new Error(opened.wrong);
      return opened.checkpoint;
    }) as [Checkpoint, Checkpoint];
    const root = (text: string) => readHash(text)!;

    const { map, timestamp } = trees.platform[1]!;
    const platformProof = await inclusionProof(readerAt(trees, PLATFORM_TREE, 2), 1, 2);
    expect(checkInclusion(leafHash(platformLeaf({ map, timestamp })), 1, 2, platformProof, root(ofPlatform.root))).toBe(true);

    const siblings = (await mapSiblings(trees.map, mapKeyOf('org_b')))!;
    const head = keyedLeaf({ organization: 'org_b', root: ofB.root, size: ofB.size });
    expect(hashText(mapRootOver(head, siblings))).toBe(map);

    for (const [index, leaf] of trees.organizations.get('org_b')!.entries()) {
      const proof = await inclusionProof(readerAt(trees, 'org_b', 307), index, 307);
      expect([index, checkInclusion(leafHash(entryLeaf(leaf)), index, 307, proof, root(ofB.root))]).toEqual([index, true]);
    }
    const older = first.find(({ organizationId }) => organizationId === 'org_b')!;
    const consistency = await consistencyProof(readerAt(trees, 'org_b', 307), 300, 307);
    expect(checkConsistency(300, 307, root(older.root), root(ofB.root), consistency)).toBe(true);
    expect(leafHashes(trees, 'org_unknown')).toEqual([]);
  });
});
