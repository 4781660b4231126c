/** Which kind of row the entries of the log must agree with. */
export type RecordKind = 'execution' | 'request' | 'vote' | 'grant' | 'erasure';

/** The mode, as far as its entries tell it, of what began without anybody being asked. */
export const UNASKED = 'unasked';

/** What a row shows of what somebody wrote or sent: canonical JSON, or the text itself. Null: it shows none. */
export type ShownTexts = Readonly<Record<string, string | null>>;

/** A row as its table has it now, told in the words of the log: what completeness compares with the entries. */
export interface RecordRow {
  readonly organizationId: string;
  readonly id: string;
  /** Null for a team's grant, and for an erasure. */
  readonly agentId: string | null;
  readonly capability: string;
  readonly status: string;
  /** What else of the row its entries say, under the names that they use. */
  readonly members: Readonly<Record<string, string | number | boolean | null>>;
  /** What it shows that no such row ever has, in words. */
  readonly odd?: readonly string[];
  /** What it shows of itself, and what of the report and the settlement that stand in it. */
  readonly texts?: { readonly own: ShownTexts; readonly report?: ShownTexts | undefined; readonly settlement?: ShownTexts | undefined };
}
