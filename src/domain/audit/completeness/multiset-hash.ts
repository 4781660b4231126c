import { hash } from 'node:crypto';
import { entryLeaf } from '../tree/tree-leaf.js';
import { digest } from '../tree/rfc6962.js';
import type { StoredLeaf } from '../entry/stored-entry.js';

const KEY_BYTES = 32;
const WORDS = 8;
const WORD_SIZE = 2 ** 32;

/** A sum of keyed hashes modulo 2^256, in a form that crosses threads. */
export interface MultisetDigest {
  readonly count: number;
  readonly sum: bigint;
}

export const EMPTY_MULTISET: MultisetDigest = { count: 0, sum: 0n };

export function addMultisets(a: MultisetDigest, b: MultisetDigest): MultisetDigest {
  return { count: a.count + b.count, sum: BigInt.asUintN(256, a.sum + b.sum) };
}

export function isSameMultiset(a: MultisetDigest, b: MultisetDigest): boolean {
  return a.count === b.count && a.sum === b.sum;
}

/**
 * The hashes of leaves: the tree's, and a keyed one of 256 bits for sums. Two sets of leaves in any orders have the same sum if they are
 * the same, and else by a chance of 2^-256, since nobody knows the key, which is drawn for each verification. So neither is sorted.
 */
export class LeafHasher {
  private readonly scratch = Buffer.alloc(4 * 1024);
  private bytes: Uint8Array = this.scratch;

  /** @param key 32 random bytes */
  constructor(key: Uint8Array) {
    if (key.length !== KEY_BYTES) throw new RangeError('not a key');
    // The key, then what the tree hashes: a zero byte and the leaf's text.
    this.scratch.set(key);
  }

  /** Turns to another leaf. */
  take(leaf: Pick<StoredLeaf, 'chain' | 'hash' | 'seq'>): void {
    const text = entryLeaf(leaf);
    if (text.length * 3 + KEY_BYTES + 1 > this.scratch.length) {
      this.bytes = Buffer.concat([this.scratch.subarray(0, KEY_BYTES + 1), Buffer.from(text, 'utf8')]);
      return;
    }
    this.bytes = this.scratch.subarray(0, KEY_BYTES + 1 + this.scratch.write(text, KEY_BYTES + 1, 'utf8'));
  }

  /** SHA-256(0x00 ‖ leaf), as the tree has it. */
  leafHash(): Uint8Array {
    return digest(this.bytes.subarray(KEY_BYTES));
  }

  addTo(sum: MultisetHash): void {
    sum.add(hash('sha256', this.bytes, 'binary'));
  }
}

/** The sum as it grows. */
export class MultisetHash {
  /** The lowest first. */
  private readonly words = new Uint32Array(WORDS);
  private count = 0;

  /** @param hashed 32 bytes, as characters */
  add(hashed: string): void {
    let carry = 0;
    for (let n = 0, at = 0; n < WORDS; n++, at += 4) {
      const low = hashed.charCodeAt(at) | (hashed.charCodeAt(at + 1) << 8) | (hashed.charCodeAt(at + 2) << 16);
      const sum = this.words[n]! + low + hashed.charCodeAt(at + 3) * 2 ** 24 + carry;
      carry = sum >= WORD_SIZE ? 1 : 0;
      this.words[n] = sum;
    }
    this.count++;
  }

  get summed(): MultisetDigest {
    return { count: this.count, sum: this.words.reduceRight((sum, word) => (sum << 32n) | BigInt(word), 0n) };
  }
}
