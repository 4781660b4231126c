import { hash } from 'node:crypto';

const BUCKETS = 65_536;
/** Words of 32 bits in a sum. */
const LANES = 4;

/**
 * Compares two sets in memory that does not grow with them: one side adds the keyed digest of each element to the sum of a bucket,
 * the other side subtracts. Equal sets leave every sum at 0; a bucket with another sum has elements that differ. Without the key, which is
 * drawn for each comparison, nobody can find elements that cancel out.
 */
export class RecordHashes {
  private readonly sums = new Uint32Array(BUCKETS * LANES);
  private readonly key: string;

  /** @param key at least 16 random bytes */
  constructor(key: Uint8Array) {
    this.key = Buffer.from(key).toString('hex');
  }

  /**
   * @param key the name of the element on both sides, which selects the bucket
   * @param said what this side says of the element
   */
  add(key: string, said: string): void {
    this.count(key, said, 1);
  }

  subtract(key: string, said: string): void {
    this.count(key, said, -1);
  }

  /** Buckets whose sides differ. */
  unequal(): Set<number> {
    const found = new Set<number>();
    for (let i = 0; i < this.sums.length; i++) if (this.sums[i] !== 0) found.add(Math.floor(i / LANES));
    return found;
  }

  private count(key: string, said: string, sign: 1 | -1): void {
    const digest = hash('sha256', this.key + said, 'buffer');
    const at = bucketOf(key) * LANES;
    for (let lane = 0; lane < LANES; lane++) this.sums[at + lane]! += sign * digest.readUInt32LE(lane * 4);
  }
}

/** The bucket of a key, by FNV-1a. */
export function bucketOf(key: string): number {
  let hashed = 0x811c9dc5;
  for (let i = 0; i < key.length; i++) hashed = Math.imul(hashed ^ key.charCodeAt(i), 0x01000193);
  return (hashed ^ (hashed >>> 16)) & (BUCKETS - 1);
}
