/** How every command ends: done and well; refused, or found wrong; wrong usage, nothing to be reached, or broken off. */
export const EXIT = { WELL: 0, REFUSED: 1, NO_CONNECTION: 2 } as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

export const DATABASE_DEFAULT = 'default: DATABASE_URL, else the embedded database of DATA_DIR';
export const NO_DATABASE = 'no database: give --database-url or DATABASE_URL, or the DATA_DIR of a server with an embedded one';

/** What databases are called that hold nothing of ours. */
export const NO_LOG = 'this database holds no audit log';
export const NEVER_SET_UP = 'this database was never set up';

/** Wrong usage, in a sentence that says what to write instead: exit code 2. */
export class UsageError extends Error {}

export interface CommandOutput {
  /** A line for the operator; standard output is for what was asked. */
  say(text: string): void;
  /** Says why not. @returns the code to end with */
  refuse(why: string, code: ExitCode): ExitCode;
}

export function commandOutput(command: string): CommandOutput {
  const say = (text: string) => void process.stderr.write(`countersign ${command}: ${text}\n`);
  return {
    say,
    refuse: (why, code) => {
      say(why);
      return code;
    },
  };
}

const SHOWN_EVERY_MS = 100;

export interface ProgressLine {
  show(text: string): void;
  clear(): void;
}

/** How far it has come, on one line, while a person watches; silent in a pipe. */
export function progressLine(): ProgressLine {
  const { stderr } = process;
  if (!stderr.isTTY) return { show: () => undefined, clear: () => undefined };
  let shown = 0;
  return {
    show: (text) => {
      if (performance.now() - shown < SHOWN_EVERY_MS) return;
      shown = performance.now();
      stderr.write(`\r\u001b[2K  ${text}`);
    },
    clear: () => void stderr.write('\r\u001b[2K'),
  };
}

const BAR_WIDTH = 30;

/** @param share from 0 to 1 */
export function progressBar(share: number): string {
  const full = Math.round(Math.min(1, share) * BAR_WIDTH);
  return `${'█'.repeat(full)}${'░'.repeat(BAR_WIDTH - full)} ${String(Math.floor(Math.min(1, share) * 100)).padStart(3)} %  `;
}
