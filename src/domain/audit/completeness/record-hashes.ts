import { hash } from 'node:crypto';

const BUCKETS = 65_536;
/** Words of 32 bits in a sum. */
const WORDS = 4;

/**
 * Compares two sets in constant memory: one side adds the keyed digest of each element to the sum of a bucket, the other side subtracts. A
 * bucket with a sum other than 0 has elements that differ; without the key, drawn for each comparison, nobody finds elements that cancel
 * out.
 */
export class RecordHashes {
  private readonly sums = new Uint32Array(BUCKETS * WORDS);
  private readonly key: string;

  /** @param key at least 16 random bytes */
  constructor(key: Uint8Array) {
    this.key = Buffer.from(key).toString('hex');
  }

  /** @param key the name of the element on both sides, which selects the bucket */
  add(key: string, said: string): void {
    this.count(key, said, 1);
  }

  subtract(key: string, said: string): void {
    this.count(key, said, -1);
  }

  /** Buckets whose sides differ. */
  unequal(): Set<number> {
    const found = new Set<number>();
    for (let i = 0; i < this.sums.length; i++) if (this.sums[i] !== 0) found.add(Math.floor(i / WORDS));
    return found;
  }

  private count(key: string, said: string, sign: 1 | -1): void {
    const digest = hash('sha256', this.key + said, 'buffer');
    const at = bucketOf(key) * WORDS;
    for (let word = 0; word < WORDS; word++) this.sums[at + word]! += sign * digest.readUInt32LE(word * 4);
  }
}

/** The bucket of a key, by FNV-1a. */
export function bucketOf(key: string): number {
  let hashed = 0x811c9dc5;
  for (let i = 0; i < key.length; i++) hashed = Math.imul(hashed ^ key.charCodeAt(i), 0x01000193);
  return (hashed ^ (hashed >>> 16)) & (BUCKETS - 1);
}
