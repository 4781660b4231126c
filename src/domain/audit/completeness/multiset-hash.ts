import { hash } from 'node:crypto';
import { entryLeaf } from '../tree/tree-leaf.js';
import { digest } from '../tree/rfc6962.js';
import type { StoredLeaf } from '../entry/stored-entry.js';

const KEY_BYTES = 32;
const MULTISET_WORDS = 8;
const LANE = 2 ** 32;

/** What a sum came to, in a form that crosses threads. */
export interface MultisetDigest {
  readonly count: number;
  /** Eight parts of 32 bits, the lowest first. */
  readonly lanes: readonly number[];
}

export const EMPTY_MULTISET: MultisetDigest = { count: 0, lanes: Array.from({ length: MULTISET_WORDS }, () => 0) };

/** Adds modulo 2^256. */
export function addMultisets(a: MultisetDigest, b: MultisetDigest): MultisetDigest {
  let carry = 0;
  const lanes = a.lanes.map((lane, n) => {
    const sum = lane + b.lanes[n]! + carry;
    carry = sum >= LANE ? 1 : 0;
    return sum % LANE;
  });
  return { count: a.count + b.count, lanes };
}

export function isSameMultiset(a: MultisetDigest, b: MultisetDigest): boolean {
  return a.count === b.count && a.lanes.every((lane, n) => lane === b.lanes[n]);
}

/**
 * The hashes of leaves: the one that the tree takes, and a keyed one of 256 bits for sums. Two sets of leaves, in whatever orders,
 * give the same sum if they are the same; if they are not, only by a chance of 2^-256 or so, since whoever wrote either of them
 * did not know the key, which is drawn anew for each verification. So neither set need be sorted.
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

/** A sum of keyed hashes, modulo 2^256, as it grows. */
export class MultisetHash {
  private readonly lanes = new Uint32Array(MULTISET_WORDS);
  private count = 0;

  /** @param hashed 32 bytes, as characters */
  add(hashed: string): void {
    let carry = 0;
    for (let n = 0, at = 0; n < MULTISET_WORDS; n++, at += 4) {
      const low = hashed.charCodeAt(at) | (hashed.charCodeAt(at + 1) << 8) | (hashed.charCodeAt(at + 2) << 16);
      const sum = this.lanes[n]! + low + hashed.charCodeAt(at + 3) * 2 ** 24 + carry;
      carry = sum >= LANE ? 1 : 0;
      this.lanes[n] = sum;
    }
    this.count++;
  }

  get summed(): MultisetDigest {
    return { count: this.count, lanes: [...this.lanes] };
  }
}
