import type { LogSource } from './verify.js';

/** A signed checkpoint as the log shows it: of an organization's tree, or the platform's. */
export interface ShownCheckpoint {
  /** An organization's id, or `platform`. */
  readonly tree: string;
  readonly size: number;
  readonly note: string;
}

/** How far a tree has been integrated. */
export interface ShownTree {
  readonly tree: string;
  readonly size: number;
  /** Base64. */
  readonly root: string;
}

/** Where a sweep ended a chain: the first survivor goes on from here. */
export interface ShownSeam {
  readonly organizationId: string;
  readonly chain: string;
  readonly seq: number;
  readonly hash: string;
  readonly sweepEntryId: string;
}

/** What is known of the log before its entries are read. */
export interface LogHeader {
  readonly instance: string;
  /** Verifier keys (C2SP signed-note form), each with the sizes of the platform's tree between which it signs. */
  readonly keys: readonly { readonly key: string; readonly fromSize: number; readonly retiredAtSize?: number }[];
  readonly checkpoints: readonly ShownCheckpoint[];
  readonly trees: readonly ShownTree[];
  readonly seams: readonly ShownSeam[];
  /** What each anchor says is its newest checkpoint of the platform's tree. */
  readonly anchors: readonly { readonly name: string; readonly size: number; readonly root: string; readonly note: string }[];
}

/** A log with its trees: the database, a server's export or a file. */
export interface EntrySource extends LogSource {
  header(): Promise<LogHeader>;
}
