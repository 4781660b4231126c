import { createCipheriv, createDecipheriv, hkdfSync } from 'node:crypto';

/**
 * The payload of an `age` file (STREAM over ChaCha20-Poly1305, age-encryption.org/v1), by Node's own cipher: that of the library is
 * JavaScript, and takes longer than everything else that a backup does. Keys and header are the library's.
 */
const CHUNK = 64 * 1024;
const TAG = 16;
const CIPHER = 'chacha20-poly1305';

export const NONCE_BYTES = 16;

/** @param nonce of {@link NONCE_BYTES}, another one for each file */
export function payloadKey(fileKey: Uint8Array, nonce: Uint8Array): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', fileKey, nonce, 'payload', 32));
}

export async function* sealedPayload(key: Uint8Array, plain: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const { bytes, nonce } of chunks(plain, CHUNK)) {
    const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG });
    yield Buffer.concat([cipher.update(bytes), cipher.final(), cipher.getAuthTag()]);
  }
}

/** @throws Error where it was altered or cut */
export async function* openedPayload(key: Uint8Array, sealed: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const { bytes, nonce, isFirst } of chunks(sealed, CHUNK + TAG)) {
    // Only an empty file has an empty piece.
    if (bytes.length < TAG || (bytes.length === TAG && !isFirst)) throw new Error('the last piece is cut');
    const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG });
    decipher.setAuthTag(bytes.subarray(-TAG));
    yield Buffer.concat([decipher.update(bytes.subarray(0, -TAG)), decipher.final()]);
  }
}

interface Chunk {
  readonly bytes: Buffer;
  /** Its number in eleven bytes, and one that says whether it is the last. */
  readonly nonce: Buffer;
  readonly isFirst: boolean;
}

/** Pieces of one length, of which the last may be shorter: which one it is shows when there is no more. */
async function* chunks(source: AsyncIterable<Uint8Array>, length: number): AsyncGenerator<Chunk> {
  let buffer = Buffer.allocUnsafe(length);
  let [used, count] = [0, 0];
  const chunk = (isLast: boolean): Chunk => {
    const nonce = Buffer.alloc(12);
    nonce.writeUIntBE(count++, 5, 6);
    nonce[11] = isLast ? 1 : 0;
    return { bytes: buffer.subarray(0, used), nonce, isFirst: count === 1 };
  };
  for await (const piece of source) {
    for (let at = 0; at < piece.length; ) {
      if (used === length) {
        yield chunk(false);
        buffer = Buffer.allocUnsafe(length);
        used = 0;
      }
      const taken = piece.subarray(at, at + length - used);
      buffer.set(taken, used);
      used += taken.length;
      at += taken.length;
    }
  }
  yield chunk(true);
}
