export type Verdict = 'valid' | 'valid_unanchored' | 'tampered';

export interface Break {
  readonly chain: string;
  readonly position: number;
  readonly entryId: string | null;
  readonly kind: string;
  readonly detail: string;
}

export interface Counts {
  readonly lines: number;
  readonly bytes: number;
  readonly organizations: number;
  readonly chains: number;
  readonly entries: number;
  readonly unanchored: number;
  readonly erased: number;
  readonly withheld: number;
  readonly breaks: number;
}

export interface Remembered {
  readonly origin: string;
  readonly size: number;
  readonly state: 'continued' | 'rewritten' | 'unproven';
  /** Of one that is not proven: what an export has to be asked for. */
  readonly ask?: string;
}

export interface Result {
  readonly verdict: Verdict;
  /** What the verdict is about: the whole log, that of some organizations, a part of either, one person's entries, an archive. */
  readonly covers: 'log' | 'organizations' | 'part' | 'person' | 'archive' | 'nothing';
  readonly breaks: readonly Break[];
  readonly counts: Counts;
  readonly checkpoint: { readonly origin: string; readonly size: number; readonly root: string; readonly timestamp: string | null } | null;
  readonly keys: readonly { readonly vkey: string; readonly pinned: boolean; readonly signed: boolean }[];
  readonly remembered: readonly Remembered[];
  /** What to remember from now on. */
  readonly notes: readonly string[];
}

export interface Options {
  readonly keys?: readonly string[];
  readonly remembered?: readonly string[];
  readonly onProgress?: (counts: Counts) => void | Promise<void>;
}

type Lines = AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>;

export function verify(lines: Lines, options?: Options): Promise<Result>;
/** The result for a person, in lines. */
export function inWords(result: Result): string;
export function linesOf(chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): AsyncGenerator<Uint8Array>;
export function sha256(...parts: readonly Uint8Array[]): Uint8Array;
export function sha512(bytes: Uint8Array): Uint8Array;
export function verifyEd25519(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean;
export function jcs(value: unknown): string;
export function parseCanonical(text: string): unknown;
