/** Tables whose rows the entries of the log must agree with. */
export type RecordKind = 'execution' | 'request' | 'vote' | LastingKind;
/** Records that no execution or request ends. */
export type LastingKind = 'grant' | 'erasure' | 'task' | 'secret';

/** The mode of an execution that began without a question to anybody: its entry says no more of the mode. */
export const UNASKED = 'unasked';

/** Texts of people and agents in a row: canonical JSON, or the text itself. Null where the row has none. */
export type ShownTexts = Readonly<Record<string, string | null>>;

/** A row of its table, in the words of the log. */
export interface RecordRow {
  readonly organizationId: string;
  readonly id: string;
  /** Null for a grant of a team, an erasure and a secret. */
  readonly agentId: string | null;
  readonly capability: string;
  readonly status: string;
  /** Other columns that entries have, under the names of entries. */
  readonly members: Readonly<Record<string, string | number | boolean | null>>;
  /** Content that no row of this kind can have, in words. */
  readonly malformed?: readonly string[];
  /** Texts of the row itself, and of the report and the settlement within it. */
  readonly texts?: { readonly own: ShownTexts; readonly report?: ShownTexts | undefined; readonly settlement?: ShownTexts | undefined };
}

/** Which texts of a row are not complete any more: known before the entries are read, so that both sides leave out the same. */
export interface RecordGap {
  readonly kind: RecordKind | 'report' | 'settlement';
  readonly organizationId: string;
  readonly id: string;
  /** Retention of records has blanked the texts. */
  readonly isBlank: boolean;
  /** The blank row of a request still shows the note of its decision, which stands in the row of a vote. */
  readonly hasNote?: boolean;
  /** The texts, where one of them may hold the mark of an erasure. */
  readonly shown?: ShownTexts | undefined;
}
