import { checkConsistency } from '../../../src/domain/audit/tree/tree-proofs.js';
import { readHash } from '../../../src/domain/audit/tree/rfc6962.js';
import { AnchorContradicts, type Anchor, type AnchoredNote } from '../../../src/platform/audit/anchor.js';

/** An anchor that forgets everything with its process. */
export function memoryAnchor(): Anchor {
  const kept = new Map<string, AnchoredNote>();
  return {
    name: 'memory',
    newest: (origin) => Promise.resolve(kept.get(origin)),
    publish: async (origin, { newest, prove }) => {
      const last = kept.get(origin);
      const isSame = last?.size === newest.size && last.root === newest.root;
      if (last && !isSame && !(last.size < newest.size && continues(last, newest, await prove(last.size)))) {
        throw new AnchorContradicts(last, 'memory has another history');
      }
      kept.set(origin, newest);
      return newest;
    },
    giveUp: (origin) => Promise.resolve(void kept.delete(origin)),
  };
}

function continues(last: AnchoredNote, newest: AnchoredNote, proof: readonly string[]): boolean {
  const hashes = proof.map((text) => readHash(text)!);
  return checkConsistency(last.size, newest.size, readHash(last.root)!, readHash(newest.root)!, hashes);
}
