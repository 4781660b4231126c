/** Which kind of row the entries of the log must agree with. */
export type RecordKind = 'execution' | 'request' | 'grant';

/** A row as its table has it now, told in the words of the log: what completeness compares with the entries. */
export interface RecordRow {
  readonly organizationId: string;
  readonly id: string;
  /** Null for a team's grant. */
  readonly agentId: string | null;
  readonly capability: string;
  readonly status: string;
  /** What else of the row its entries say, under the names that they use. */
  readonly members: Readonly<Record<string, string | number | boolean | null>>;
}
