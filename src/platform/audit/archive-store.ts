/**
 * Where swept entries go. Names are relative paths of plain segments (`<organization id>/<sweep id>/skeleton.jsonl.gz`); lines come
 * and go without their line ends. Digests are SHA-256, in hex, of the lines joined by `\n`, each with its end, before compression.
 */
export abstract class ArchiveStore {
  /**
   * Writes a new object as a whole: it is there, and will be after a crash, when this returns; until then it is not.
   * @throws Error when an object has that name, or it could not be written
   */
  abstract write(name: string, lines: AsyncIterable<string>): Promise<ArchivedObject>;
  /** @throws Error when there is no such object, or it cannot be read to its end */
  abstract read(name: string): AsyncIterable<string>;
  /** Puts another object in the place of one; whoever reads sees one or the other, also after a crash. */
  abstract replace(name: string, lines: AsyncIterable<string>): Promise<ArchivedObject>;
  abstract exists(name: string): Promise<boolean>;
  /** Names that begin so, sorted by code point. */
  abstract list(prefix: string): AsyncIterable<string>;
}

export interface ArchivedObject {
  readonly digest: string;
  /** Of the lines, before compression. */
  readonly bytes: number;
}
