/** What a proof is given for one run. */
export interface ProofRun {
  /** How many cases to try. */
  readonly count: number;
  /** The same seed gives the same cases. */
  readonly seed: number;
  /** Tells how many cases are done. */
  progress(done: number): void;
}

export interface ProofResult {
  /** Cases that were tried. A run that found nothing to try proves nothing and fails. */
  readonly checked: number;
  /** The smallest case found that breaks the claim, in words; absent when the claim held. */
  readonly counterexample?: string;
  /** What the cases were made of, so that a reader sees whether they reach the claim at all. */
  readonly coverage: Readonly<Record<string, number>>;
}

/** A claim about the product that a machine tries to break, briefly in every test run and at length by `npm run prove`. */
export interface Proof {
  readonly name: string;
  /** The claim, in one sentence. */
  readonly title: string;
  /** Cases of the long form. */
  readonly longCount: number;
  /** Cases of the short form in every test run, where a fiftieth of the long one takes too long or meets too little. */
  readonly shortCount?: number;
  /** `database`: TEST_DATABASE_URL names a server with the template, and the built server can be started. */
  readonly needs: 'nothing' | 'database';
  run(run: ProofRun): Promise<ProofResult>;
}
