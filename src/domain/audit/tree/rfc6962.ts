import { hash } from 'node:crypto';

/** Every hash of the trees is a SHA-256: 32 bytes. */
export const HASH_BYTES = 32;

/** Root of a tree without leaves: the hash of no bytes (RFC 6962, section 2.1). */
export const EMPTY_ROOT: Uint8Array = digest('');

const LEAF = 0;
const NODE = 1;

// Nothing here is asynchronous, so one buffer for each shape serves all calls.
const node = Buffer.alloc(1 + 2 * HASH_BYTES, NODE);
const leaf = Buffer.alloc(4 * 1024, LEAF);

/** SHA-256, by way of a text of 32 characters: a result as bytes has memory of its own, and takes two to three times as long. */
export function digest(data: string | Uint8Array): Uint8Array {
  return Buffer.from(hash('sha256', data, 'binary'), 'latin1');
}

/** SHA-256(0x00 ‖ data) (RFC 6962, section 2.1); a text counts as its UTF-8 bytes. */
export function leafHash(data: string | Uint8Array): Uint8Array {
  const bytes = typeof data === 'string' ? Buffer.from(data, 'utf8') : data;
  if (bytes.length >= leaf.length) return digest(Buffer.concat([Buffer.of(LEAF), bytes]));
  leaf.set(bytes, 1);
  return digest(leaf.subarray(0, 1 + bytes.length));
}

/** SHA-256(0x01 ‖ left ‖ right) (RFC 6962, section 2.1). The prefix keeps a node from being passed off as a leaf. */
export function nodeHash(left: Uint8Array, right: Uint8Array): Uint8Array {
  node.set(left, 1);
  node.set(right, 1 + HASH_BYTES);
  return digest(node);
}

/** Root of a list of subtrees, the sizes of which fall from left to right, as those of a compact range do. */
export function foldRight(subtrees: readonly Uint8Array[]): Uint8Array {
  if (subtrees.length === 0) return EMPTY_ROOT;
  return subtrees.reduceRight((right, left) => nodeHash(left, right));
}

export function sameHash(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, i) => byte === b[i]);
}

/** Padded base64: the form of a root in a checkpoint, and of every tree hash in JSON. */
export function hashText(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}

/** Reads what `hashText` writes; undefined for any other text, so that a hash has one spelling. */
export function readHash(text: string): Uint8Array | undefined {
  const bytes = Buffer.from(text, 'base64');
  return bytes.length === HASH_BYTES && bytes.toString('base64') === text ? bytes : undefined;
}
