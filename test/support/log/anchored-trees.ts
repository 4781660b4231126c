import { randomBytes } from 'node:crypto';
import { checkpointText, originOf, PLATFORM_TREE } from '../../../src/domain/audit/notes/checkpoint.js';
import { signingKey, signNote, verifierKey } from '../../../src/domain/audit/notes/note.js';
import { consistencyProof } from '../../../src/domain/audit/tree/tree-proofs.js';
import { hashText, leafHash } from '../../../src/domain/audit/tree/rfc6962.js';
import type { OurTree } from '../../../src/platform/audit/anchor.js';
import { leavesReader, naiveRoot } from '../memory/memory-tree.js';

/** The platform's tree of an installation that there is in memory only, to show to anchors. */
export interface ShownTree {
  readonly origin: string;
  readonly verifierKey: string;
  /** The tree when it had so many leaves. */
  at(size: number): OurTree;
  /** Another history of the same installation, under the same key, that leaves this one's behind so many leaves. */
  forkedAt(size: number): ShownTree;
}

export function shownTree(): ShownTree {
  const instance = `countersign-${randomBytes(6).toString('hex')}`;
  return treeOf(instance, randomBytes(32).toString('base64'), []);
}

function treeOf(instance: string, seed: string, beginning: readonly Uint8Array[]): ShownTree {
  const origin = originOf(instance, PLATFORM_TREE);
  const key = signingKey(instance, seed);
  const leaves = [...beginning];
  const grow = (size: number): Uint8Array[] => {
    while (leaves.length < size) leaves.push(leafHash(randomBytes(16)));
    return leaves.slice(0, size);
  };
  return {
    origin,
    verifierKey: verifierKey(instance, seed),
    at: (size) => {
      const root = hashText(naiveRoot(grow(size)));
      const note = signNote(checkpointText({ origin, size, root }), [key]);
      const prove = async (from: number) => (await consistencyProof(leavesReader(grow(size)), from, size)).map(hashText);
      return { newest: { size, root, note }, prove };
    },
    forkedAt: (size) => treeOf(instance, seed, grow(size)),
  };
}
