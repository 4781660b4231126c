/**
 * The way down: closers run once, the last one added first, then the process exits. A signal during the start ends what has
 * been started so far.
 */
export class Shutdown {
  private readonly closers: (() => Promise<void>)[] = [];
  private begun: Promise<never> | undefined;
  private signal: NodeJS.Signals | undefined;

  /** @param say called with the error of a closer that failed; the others still run */
  constructor(
    private readonly say: (error: unknown) => void,
    private readonly exit: (code: number) => never = (code) => process.exit(code),
  ) {}

  get isBegun(): boolean {
    return this.begun !== undefined;
  }

  /** Whether a supervisor wants this process replaced; a person at a terminal, or a failure, does not wait. */
  get isReplacement(): boolean {
    return this.signal === 'SIGTERM';
  }

  add(closer: () => Promise<void>): void {
    this.closers.push(closer);
  }

  /** Ctrl-C reaches the whole process group, and npm passes it on once more: the second of the same moment is the same wish. */
  listen(): void {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      process.on(signal, () => {
        if (!this.isBegun) this.signal = signal;
        void this.run(0);
      });
    }
  }

  run(code: number): Promise<never> {
    this.begun ??= this.close(code);
    return this.begun;
  }

  private async close(code: number): Promise<never> {
    let failed = false;
    for (let closer = this.closers.pop(); closer; closer = this.closers.pop()) {
      try {
        await closer();
      } catch (error) {
        failed = true;
        this.say(error);
      }
    }
    return this.exit(failed && code === 0 ? 1 : code);
  }
}
