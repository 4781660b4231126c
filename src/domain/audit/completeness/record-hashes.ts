import { hash } from 'node:crypto';

const BUCKETS = 65_536;
/** Of 32 bits each. */
const LANES = 4;

/**
 * Whether two sets of things are the same, in memory that does not grow with them: the keyed digest of what is said of each is added to
 * the sum of its bucket by one side and taken away by the other. What agrees leaves every sum at 0; a bucket that is not at 0 holds what
 * does not. Nobody can find things that cancel out without the key, which is drawn for each comparison.
 */
export class RecordHashes {
  private readonly sums = new Uint32Array(BUCKETS * LANES);
  private readonly key: string;

  /** @param key at least 16 random bytes */
  constructor(key: Uint8Array) {
    this.key = Buffer.from(key).toString('hex');
  }

  /**
   * @param key what both sides call it: by it they meet in one bucket
   * @param said what this side says of it
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

/** By FNV-1a: what both sides say of one thing meets in one bucket. */
export function bucketOf(key: string): number {
  let hashed = 0x811c9dc5;
  for (let i = 0; i < key.length; i++) hashed = Math.imul(hashed ^ key.charCodeAt(i), 0x01000193);
  return (hashed ^ (hashed >>> 16)) & (BUCKETS - 1);
}
