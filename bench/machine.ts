import { readFileSync } from 'node:fs';

/** What the processors did during a stretch, as shares of their time: what a figure may have suffered from. */
export interface MachineUse {
  readonly idle: number;
  /** Taken by other machines on the same host. */
  readonly steal: number;
}

/** Columns of the first line of /proc/stat, in ticks since the start of the machine (proc_stat(5)). */
const [IDLE, IO_WAIT, STEAL, COLUMNS] = [3, 4, 7, 8];

/** Begins a stretch. @returns what ends it: its use, or undefined where the system tells of none */
export function watchMachine(): () => MachineUse | undefined {
  const before = ticks();
  return () => {
    const after = ticks();
    if (!before || !after) return undefined;
    const spent = after.map((value, column) => value - before[column]!);
    const all = spent.reduce((sum, value) => sum + value, 0);
    return { idle: (spent[IDLE]! + spent[IO_WAIT]!) / all, steal: spent[STEAL]! / all };
  };
}

function ticks(): number[] | undefined {
  try {
    return readFileSync('/proc/stat', 'utf8').split('\n', 1)[0]!.trim().split(/\s+/).slice(1, 1 + COLUMNS).map(Number);
  } catch {
    return undefined;
  }
}
