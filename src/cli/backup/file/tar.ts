/**
 * The little of POSIX tar (IEEE 1003.1, ustar) that a backup needs: plain files, in order. Libraries for it bring more code than the two
 * functions here, one of them native.
 */
const BLOCK = 512;
/** Eleven octal digits. */
const LARGEST = 8 ** 11 - 1;
const CHECKSUM_AT = 148;
const CHECKSUM_LENGTH = 8;

/** A file of an archive. Its content is to be read to its end before the next file is asked for. */
export interface TarMember {
  readonly name: string;
  readonly size: number;
  readonly content: AsyncIterable<Uint8Array>;
}

/** Header, content and padding of one file. */
export function* tarMember(name: string, content: readonly Uint8Array[], madeAt: Date): Generator<Uint8Array> {
  const size = content.reduce((sum, { length }) => sum + length, 0);
  yield header(name, size, madeAt);
  yield* content;
  yield Buffer.alloc(padding(size));
}

/** What an archive ends with. */
export function tarEnd(): Uint8Array {
  return Buffer.alloc(2 * BLOCK);
}

function header(name: string, size: number, madeAt: Date): Buffer {
  if (Buffer.byteLength(name) > 100 || size > LARGEST) throw new Error(`${name} does not fit into an archive`);
  const block = Buffer.alloc(BLOCK);
  block.write(name, 0, 'utf8');
  const numbers = [[0o600, 100, 8], [0, 108, 8], [0, 116, 8], [size, 124, 12], [Math.floor(madeAt.getTime() / 1_000), 136, 12]] as const;
  for (const [value, at, length] of numbers) block.write(`${value.toString(8).padStart(length - 1, '0')}\0`, at, 'ascii');
  block.write('0', 156, 'ascii');
  block.write('ustar\x0000', 257, 'ascii');
  block.write(`${checksum(block).toString(8).padStart(6, '0')}\0 `, CHECKSUM_AT, 'ascii');
  return block;
}

/** The sum of the header's bytes, its own place read as blanks. */
function checksum(block: Buffer): number {
  let sum = CHECKSUM_LENGTH * 0x20;
  for (let at = 0; at < BLOCK; at++) if (at < CHECKSUM_AT || at >= CHECKSUM_AT + CHECKSUM_LENGTH) sum += block[at]!;
  return sum;
}

const padding = (size: number) => (BLOCK - (size % BLOCK)) % BLOCK;

/**
 * The files of an archive that {@link tarMember} made.
 *
 * @throws Error where it is none, or ends before its end
 */
export async function* tarMembers(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<TarMember> {
  const source = new ByteSource(bytes);
  for (;;) {
    const block = Buffer.from(await source.exactly(BLOCK));
    if (block.every((byte) => byte === 0)) return source.drain();
    if (Number.parseInt(block.toString('ascii', CHECKSUM_AT, CHECKSUM_AT + 6), 8) !== checksum(block)) throw new Error('no tar archive');
    const name = block.toString('utf8', 0, 100).replace(/\0.*$/s, '');
    const size = Number.parseInt(block.toString('ascii', 124, 135), 8);
    if (block.toString('ascii', 156, 157) !== '0' || !Number.isSafeInteger(size)) throw new Error('no tar archive of plain files');
    yield { name, size, content: source.upTo(size) };
    await source.exactly(padding(size));
  }
}

/** Bytes in the lengths that somebody wants, from bytes in the lengths in which they come. */
class ByteSource {
  private readonly pieces: AsyncIterator<Uint8Array>;
  private piece: Uint8Array = new Uint8Array();

  constructor(bytes: AsyncIterable<Uint8Array>) {
    this.pieces = bytes[Symbol.asyncIterator]();
  }

  async* upTo(length: number): AsyncGenerator<Uint8Array> {
    for (let left = length; left > 0; ) {
      await this.more();
      const part = this.piece.subarray(0, left);
      this.piece = this.piece.subarray(part.length);
      left -= part.length;
      yield part;
    }
  }

  async exactly(length: number): Promise<Uint8Array> {
    const parts: Uint8Array[] = [];
    for await (const part of this.upTo(length)) parts.push(part);
    return Buffer.concat(parts);
  }

  /** To the end: whoever decrypts learns only there that nothing was cut off. */
  async drain(): Promise<void> {
    while (!(await this.pieces.next()).done);
  }

  private async more(): Promise<void> {
    while (this.piece.length === 0) {
      const next = await this.pieces.next();
      if (next.done) throw new Error('the archive ends before its end');
      this.piece = next.value;
    }
  }
}
