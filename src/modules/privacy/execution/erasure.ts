/** The phases of a round, in their order. `subjects` is a phase of users' erasures alone. */
export type ErasurePhase = 'subjects' | 'log' | 'rows' | 'archive' | 'check';

export interface ErasureCursor {
  readonly phase: ErasurePhase;
  /** From 1. */
  readonly round: number;
  /** In `subjects`: the last entry that was searched. */
  readonly entry?: string;
  /** In `log`: the chain, and the last position that was searched in the chain. */
  readonly chain?: string;
  readonly seq?: number;
  /** In `rows`: the number of the module's holder, and the row behind which the holder goes on. */
  readonly holder?: number;
  readonly after?: string;
  /** How many archives of the organization this round has searched. */
  readonly archives?: number;
  /** The user's texts have found more than one person alone may erase: until somebody confirms, only the user's own values go. */
  readonly ownOnly?: true;
  /** The scope of this round was set under the locks of all chains: the erasure ends without another search. */
  readonly last?: true;
}

export interface ErasureCounts {
  /** Committed values that were blanked. */
  readonly values: number;
  /** Of these, values that a text has found and that are not the erased user's own: one person alone may erase a limited number. */
  readonly byText: number;
  /** Entries that lost a value. */
  readonly entries: number;
  /** Entries whose disclosures could not be read, which verification names. */
  readonly unreadable: number;
  /** Changed rows of other tables, by kind. */
  readonly rows: Readonly<Record<string, number>>;
  /** Rows that the last pass had to leave, by kind: of policy, or of executions that run. */
  readonly left: Readonly<Record<string, number>>;
}

export const NOTHING_YET: ErasureCounts = { values: 0, byText: 0, entries: 0, unreadable: 0, rows: {}, left: {} };

export interface ErasureKey {
  readonly organizationId: string;
  readonly id: string;
}

export type ErasureState = 'unconfirmed' | 'running' | 'done' | 'declined';

export interface Erasure extends ErasureKey {
  readonly kind: 'user' | 'values';
  readonly userId: string | null;
  /** Encrypted; null after the end. */
  readonly texts: Buffer | null;
  readonly reason: string | null;
  readonly state: ErasureState;
  readonly askedBy: string;
  readonly confirmedBy: string | null;
  readonly cursor: ErasureCursor;
  /** The cursor as stored: a step compares the text before the cursor moves. */
  readonly cursorText: string;
  readonly counts: ErasureCounts;
  readonly askedAt: Date;
  readonly endedAt: Date | null;
}

/** A part of one chain: positions above `low`, up to `high`. */
export interface ChainRange {
  readonly chain: string;
  readonly low: number;
  readonly high: number;
}

/** Over so many committed values found by texts in a day, or for one value of a decision, a second person confirms. */
export const VALUES_WITHOUT_CONFIRMATION = 100;

/** Adds the counts of a call; kinds that begin with `left` or `kept` count rows that the call had to leave. */
export function addRows(counts: ErasureCounts, rows: Readonly<Record<string, number>>): ErasureCounts {
  const [sum, left]: Record<string, number>[] = [{ ...counts.rows }, { ...counts.left }];
  for (const [what, count] of Object.entries(rows)) {
    const kept = /^(?:left|kept)[A-Z]/.test(what) ? left! : sum!;
    if (count > 0) kept[what] = (kept[what] ?? 0) + count;
  }
  return { ...counts, rows: sum!, left: left! };
}

/** Whether rows are left that can be erased from later. Rows that are kept belong to other people and stay. */
export function isAnyLeft({ left }: ErasureCounts): boolean {
  return Object.keys(left).some((what) => what.startsWith('left'));
}

/** The result of a step: there is more to do; nothing can be done now, since something has to happen first; or the erasure has ended. */
export type Stepped = 'more' | 'later' | 'end';
