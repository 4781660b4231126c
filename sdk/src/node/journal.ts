import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import type { WorkResultDto } from '../wire.js';

export type WorkResult = Omit<WorkResultDto, 'fence'>;

/** What the node is at: a line is written, and on the disk, before what it says is done. */
export interface JournalEntry {
  readonly id: string;
  readonly fence: number;
  readonly state: 'starting' | 'done' | 'over';
  readonly result?: WorkResult;
}

/** A file of lines, for its owner alone. */
export class Journal {
  constructor(private readonly path: string) {}

  write(entry: JournalEntry): void {
    appendFileSync(this.path, `${JSON.stringify(entry)}\n`, { mode: 0o600, flush: true });
  }

  /** What was begun and is not over, each by its last line. */
  open(): JournalEntry[] {
    if (!existsSync(this.path)) return [];
    const open = new Map<string, JournalEntry>();
    for (const line of readFileSync(this.path, 'utf8').split('\n')) {
      const entry = entryOf(line);
      if (entry?.state === 'over') open.delete(entry.id);
      else if (entry !== undefined) open.set(entry.id, entry);
    }
    return [...open.values()];
  }

  clear(): void {
    writeFileSync(this.path, '', { mode: 0o600 });
  }
}

/** The last line of a journal may be half of one. */
function entryOf(line: string): JournalEntry | undefined {
  try {
    return JSON.parse(line) as JournalEntry;
  } catch {
    return undefined;
  }
}
