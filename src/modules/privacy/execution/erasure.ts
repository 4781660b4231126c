/** The steps of one round, in their order. `subjects` is for users alone. */
export type ErasurePhase = 'subjects' | 'log' | 'rows' | 'archive' | 'check';

/** How far an erasure has come. */
export interface ErasureCursor {
  readonly phase: ErasurePhase;
  /** From 1. */
  readonly round: number;
  /** In `subjects`: the last entry looked at. */
  readonly entry?: string;
  /** In `log`: the chain and the position in it up to which it is covered. */
  readonly chain?: string;
  readonly seq?: number;
  /** In `rows`: which of the holders has its turn, and where it goes on. */
  readonly holder?: number;
  readonly after?: string;
  /** How many of the organization's archives this round has gone through. */
  readonly archives?: number;
  /**
   * More was met by the user's texts than one person alone may erase: only what is the user's own goes until somebody confirms the rest.
   */
  readonly ownOnly?: true;
  /** This round's positions were taken under the locks of all chains: it ends without looking again. */
  readonly last?: true;
}

export interface ErasureCounts {
  /** Committed values that were blanked. */
  readonly values: number;
  /** Of these, those that a text was met in, and that are not the erased user's own: what one person alone may erase so much of. */
  readonly byText: number;
  /** Entries that lost a value. */
  readonly entries: number;
  /** Entries whose disclosures could not be read, which verification names. */
  readonly unreadable: number;
  /** Rows of other tables, by what they are. */
  readonly rows: Readonly<Record<string, number>>;
  /** Rows that still hold some of it, in the last pass over them: they decide what agents may, or belong to what runs. */
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
  /** Encrypted; null once it has ended. */
  readonly texts: Buffer | null;
  readonly reason: string | null;
  readonly state: ErasureState;
  readonly askedBy: string;
  readonly confirmedBy: string | null;
  readonly place: ErasureCursor;
  /** As it is stored: what a step compares before it moves on. */
  readonly placeText: string;
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

/** Over so many committed values met by texts in a day, or where one is of a decision, a second person confirms. */
export const VALUES_WITHOUT_CONFIRMATION = 100;

/** Adds what a call has counted; kinds that begin with `left` or `kept` are rows that it had to leave as they are. */
export function addRows(counts: ErasureCounts, rows: Readonly<Record<string, number>>): ErasureCounts {
  const [sum, left]: Record<string, number>[] = [{ ...counts.rows }, { ...counts.left }];
  for (const [what, count] of Object.entries(rows)) {
    const kept = /^(?:left|kept)[A-Z]/.test(what) ? left! : sum!;
    if (count > 0) kept[what] = (kept[what] ?? 0) + count;
  }
  return { ...counts, rows: sum!, left: left! };
}

/** Whether something is left that may go later. What is kept is other people's own: it stays. */
export function isAnyLeft({ left }: ErasureCounts): boolean {
  return Object.keys(left).some((what) => what.startsWith('left'));
}

/** What came of a step: more to do, nothing for now (somebody has to do something first, or something has to end), or the end. */
export type Stepped = 'more' | 'later' | 'end';
