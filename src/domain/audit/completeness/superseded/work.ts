const STEPS = 100_000;

/** Counts the steps of a comparison, so that who writes a value of many names that look erased does not hold up the server. */
export class Work {
  private readonly most: number;
  private count = 0;

  /** @param characters of what is compared */
  constructor(characters: number) {
    this.most = STEPS + characters;
  }

  get steps(): number {
    return this.count;
  }

  get isSpent(): boolean {
    return this.count > this.most;
  }

  step(): void {
    this.count++;
  }
}
