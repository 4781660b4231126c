import { openCheckpoint, originOf, PLATFORM_TREE, type Checkpoint } from '../../notes/checkpoint.js';
import type { LineOf } from '../export-lines.js';
import type { VerifierKey } from '../../notes/note.js';

/** What a file shows of a checkpoint that somebody remembers. */
export type RecalledFound = {
  readonly origin: string;
  readonly size: number;
  readonly state: 'continued' | 'rewritten' | 'unproven';
  /** Of one that is not proven: what an export has to be asked for, to prove it. No file of a person can. */
  readonly ask?: string;
};

/** What the verification of a file says of what is remembered. */
export type RecalledMember = { readonly remembered: RecalledFound[] };

export interface RecalledCheckpoint extends Checkpoint {
  readonly note: string;
}

/** What is remembered is not signed as it should be by a key that is believed. */
export class UnbelievedMemory extends Error {
  override readonly name = 'UnbelievedMemory';
}

/** Checkpoints from earlier verifications, of this and of other installations, while a file is held against them. */
export class RecalledCheckpoints {
  readonly found: RecalledFound[] = [];
  private readonly unproven = new Map<string, string>();

  constructor(private readonly notes: readonly string[]) {}

  /** @throws Error for a note of this tree that cannot be believed */
  of(instance: string, tree: string, keys: readonly VerifierKey[]): RecalledCheckpoint | undefined {
    const origin = originOf(instance, tree);
    const note = this.notes.find((one) => one.startsWith(`${origin}\n`));
    if (note === undefined) return undefined;
    const opened = openCheckpoint(note, keys, origin);
    if ('wrong' in opened) throw new UnbelievedMemory(`the remembered checkpoint ${opened.wrong}`);
    return { ...opened.checkpoint, note };
  }

  treesOf(instance: string): string[] {
    const origins = this.notes.map((note) => note.slice(0, note.indexOf('\n')).split('/'));
    return [...new Set(origins.flatMap(([name, tree]) => (name === instance && tree !== undefined ? [tree] : [])))];
  }

  /** @param goesOn undefined where the file does not say */
  judge({ what }: LineOf<'export'>, tree: string, { origin, size, note }: RecalledCheckpoint, goesOn: boolean | undefined): void {
    if (goesOn === undefined) this.unproven.set(tree, note);
    const state = goesOn === undefined ? 'unproven' : goesOn ? 'continued' : 'rewritten';
    const ask = tree === PLATFORM_TREE ? `platform_since=${size}` : `organization_id=${tree}&since=${size}`;
    this.found.push({ origin, size, state, ...(state === 'unproven' && what === 'log' ? { ask } : {}) });
  }

  /** What is to be remembered of a tree: what it was not shown to go on from stays, else nobody would ever be asked for it again. */
  next(tree: string, note: string): string {
    return this.unproven.get(tree) ?? note;
  }
}
