import type { EntityType } from './entity-types.js';

/** Where a text holds something of a type. It says nothing of the value itself, so that it may be logged and counted. */
export interface Finding {
  readonly type: EntityType;
  /** Offset of the first UTF-16 unit. */
  readonly start: number;
  /** Offset behind the last UTF-16 unit. */
  readonly end: number;
  /** How sure it is, 0 to 1: by shape and context alone below 0.8, by a checksum or a form of its own from 0.9. */
  readonly score: number;
  /** How many times JSON's escapes were undone before it was seen. Default: 0. */
  readonly escapes?: number;
}

export interface ScanOptions {
  /** The types looked for. Default: all. */
  readonly entities?: readonly EntityType[];
  /** Values that are left as they are, compared without regard to case: the organization's own hotline, say. Default: none. */
  readonly allow?: readonly string[];
  /** The organization's own words, found as TERM without regard to case, as whole words. Default: none. */
  readonly terms?: readonly string[];
  /** What stands before the text, in lines, such as names of members around a JSON value: its words count as context. Default: nothing. */
  readonly context?: string;
  /** Whether the text is a name, which its context does not make a secret or a date as a whole. Default: false. */
  readonly isName?: boolean;
}
