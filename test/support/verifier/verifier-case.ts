/** An export with one change, and what a verifier has to find in it. */
export interface VerifierCase {
  readonly name: string;
  readonly lines: readonly string[];
  readonly verdict: 'valid' | 'valid_unanchored' | 'tampered';
  /** Kinds of breaks that have to be among those found. */
  readonly kinds: readonly string[];
}
