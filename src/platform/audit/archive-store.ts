/**
 * Keeps swept entries. Names are relative paths of plain segments (`<organization id>/<sweep id>/skeleton.jsonl.gz`); objects with names
 * that end in `.gz` are kept compressed. Lines are given without their line ends. Digests are SHA-256, in hex, of the lines joined by
 * `\n`, each with its end, before compression.
 */
export abstract class ArchiveStore {
  /**
   * Writes a new object as a whole: durable when this returns, and not visible before.
   * @throws Error when an object has that name, or it could not be written
   */
  abstract write(name: string, lines: AsyncIterable<string>): Promise<ArchivedObject>;
  /** @throws Error when there is no such object, or it cannot be read to its end */
  abstract read(name: string): AsyncIterable<string>;
  /**
   * Replaces an object: readers see the old or the new one, also after a crash.
   * @throws Error when there is no such object, or the new one could not be written; the old one stays
   */
  abstract replace(name: string, lines: AsyncIterable<string>): Promise<ArchivedObject>;
  abstract exists(name: string): Promise<boolean>;
  /** Removes the objects below a folder, with the remains of writes that were cut off. A folder may be missing. */
  abstract discard(folder: string): Promise<void>;
  /** Whether objects can be written now. @throws Error that says why not */
  abstract check(): Promise<void>;
}

export interface ArchivedObject {
  readonly digest: string;
  /** Of the lines, before compression. */
  readonly bytes: number;
}
