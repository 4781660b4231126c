import { createHash } from 'node:crypto';
import { keyOfFact, type RecordFact, textOfFact } from './record-fact.js';

const BUCKETS = 65_536;
/** Of 32 bits each. */
const LANES = 4;

/**
 * Whether two sets of facts are the same, in memory that does not grow with them: each fact's keyed digest is added to the sum of
 * its bucket by one side and taken away by the other. What agrees leaves every sum at 0; a bucket that is not at 0 holds what does
 * not. Nobody can find facts that cancel out without the key, which is drawn for each comparison.
 */
export class RecordSums {
  private readonly sums = new Uint32Array(BUCKETS * LANES);

  /** @param key at least 16 random bytes */
  constructor(private readonly key: Uint8Array) {}

  add(fact: RecordFact): void {
    this.count(fact, 1);
  }

  subtract(fact: RecordFact): void {
    this.count(fact, -1);
  }

  /** Buckets whose sides differ. */
  unequal(): Set<number> {
    const found = new Set<number>();
    for (let i = 0; i < this.sums.length; i++) if (this.sums[i] !== 0) found.add(Math.floor(i / LANES));
    return found;
  }

  private count(fact: RecordFact, sign: 1 | -1): void {
    const digest = createHash('sha256').update(this.key).update(textOfFact(fact)).digest();
    const at = bucketOf(fact) * LANES;
    for (let lane = 0; lane < LANES; lane++) this.sums[at + lane]! += sign * digest.readUInt32LE(lane * 4);
  }
}

/** By FNV-1a of its key: rows and entries of one thing meet in one bucket. */
export function bucketOf(fact: Pick<RecordFact, 'kind' | 'organizationId' | 'id'>): number {
  const key = keyOfFact(fact);
  let hash = 0x811c9dc5;
  for (let i = 0; i < key.length; i++) hash = Math.imul(hash ^ key.charCodeAt(i), 0x01000193);
  return (hash ^ (hash >>> 16)) & (BUCKETS - 1);
}
