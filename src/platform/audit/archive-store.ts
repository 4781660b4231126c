/**
 * Where swept entries go. Names are relative paths of plain segments (`<organization id>/<sweep id>/skeleton.jsonl.gz`); what ends with
 * `.gz` is kept compressed. Lines come and go without their line ends. Digests are SHA-256, in hex, of the lines joined by `\n`, each
 * with its end, before compression.
 */
export abstract class ArchiveStore {
  /**
   * Writes a new object as a whole: it is there, and will be after a crash, when this returns; until then it is not.
   * @throws Error when an object has that name, or it could not be written
   */
  abstract write(name: string, lines: AsyncIterable<string>): Promise<ArchivedObject>;
  /** @throws Error when there is no such object, or it cannot be read to its end */
  abstract read(name: string): AsyncIterable<string>;
  /**
   * Puts another object in the place of one; whoever reads sees one or the other, also after a crash.
   * @throws Error when there is no such object, or it could not be written; it is then as it was
   */
  abstract replace(name: string, lines: AsyncIterable<string>): Promise<ArchivedObject>;
  abstract exists(name: string): Promise<boolean>;
  /** Names that begin so, sorted by code point. */
  abstract list(prefix: string): AsyncIterable<string>;
  /** Removes the objects below a folder, and what writes that were cut off have left there. Where nothing is, nothing happens. */
  abstract discard(folder: string): Promise<void>;
  /** Whether objects can be written now. @throws Error that says why not */
  abstract check(): Promise<void>;
}

export interface ArchivedObject {
  readonly digest: string;
  /** Of the lines, before compression. */
  readonly bytes: number;
}
