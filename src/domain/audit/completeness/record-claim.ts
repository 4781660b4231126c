import type { StoredEntry } from '../entry/stored-entry.js';
import type { RecordKind, RecordRow, ShownTexts } from './record-row.js';
import { briefOfShown, type IsErasedInRow, isSameText, type RecordedTexts } from './record-text.js';

/** A report and a settlement have entries of their own, later than those of the execution, so each is compared by itself. */
export type ClaimKind = RecordKind | 'report' | 'settlement';

/** Where an entry stands. */
export interface EntryRef {
  readonly chain: string;
  readonly position: number;
  readonly entryId: string | null;
}

/** Undefined where an erasure or a retention run has taken the value. */
export type ClaimValue = string | number | boolean | null | undefined;

/** What a row and its entries both say of one record, in the same words. */
export interface RecordClaim {
  readonly kind: ClaimKind;
  readonly organizationId: string;
  readonly id: string;
  readonly agentId: string | null;
  readonly capability: string;
  readonly status: string;
  /** The entry that ended the record; null while it is open. */
  readonly entryId: string | null;
  readonly members: Readonly<Record<string, ClaimValue>>;
}

/** What a row says. */
export interface RowClaim extends RecordClaim {
  readonly shown?: ShownTexts | undefined;
  readonly malformed?: readonly string[] | undefined;
}

/** What the entries of a record say, and where the last of them stands. */
export interface RecordedFact extends RecordClaim {
  readonly texts: RecordedTexts;
  readonly ref: EntryRef;
}

/** The chain whose entries are followed. */
export interface FollowedChain {
  readonly organizationId: string;
  /** Of an agent's chain. */
  readonly agentId: string | null;
  /** A retention run took the beginning of the chain, so what its first entries said is not known. */
  readonly isCut: boolean;
}

export interface RecordedFactListener {
  fact(fact: RecordedFact): void;
  /** Texts of the row with this key that hold the mark of an erasure. */
  erasedInRow(key: string): IsErasedInRow;
  /** An entry that does not fit those before it. */
  contradiction(ref: EntryRef, detail: string): void;
}

/** No entry says by which grant and definition an execution was blocked. */
const NOT_RECORDED_OF_BLOCKED = { grantId: undefined, grantVersion: undefined, definition: undefined };

/** The claims of a row: of the record itself, and of the report and the settlement within it. */
export function claimsOfRow(kind: RecordKind, row: RecordRow): RowClaim[] {
  const { organizationId, id, agentId, capability, status, texts, malformed } = row;
  const { entryId = null, reported = null, reportedMs = null, settled = null, settledBy = null, ...others } = row.members;
  const members = kind === 'execution' && status === 'blocked' ? { ...others, ...NOT_RECORDED_OF_BLOCKED } : others;
  const own = { organizationId, id, agentId, capability };
  const claims: RowClaim[] = [{ kind, ...own, status, entryId: entryId as string | null, members, shown: texts?.own, malformed }];
  const later = { organizationId, id, agentId: null, capability, entryId: null };
  if (reported !== null) {
    claims.push({ kind: 'report', ...later, status: String(reported), members: { durationMs: reportedMs }, shown: texts?.report });
  }
  if (settled !== null) {
    claims.push({ kind: 'settlement', ...later, status: String(settled), members: { settledBy }, shown: texts?.settlement });
  }
  return claims;
}

export function entryRefOf({ chain, seq, id }: StoredEntry): EntryRef {
  return { chain, position: seq, entryId: id };
}

export function keyOfClaim({ kind, organizationId, id }: Pick<RecordClaim, 'kind' | 'organizationId' | 'id'>): string {
  return `${kind} ${organizationId} ${id}`;
}

/** Whether nothing of what the entries say was taken by an erasure or a retention run. */
export function isWhole({ members, texts }: RecordedFact): boolean {
  return Object.values(members).every((value) => value !== undefined) &&
    Object.values(texts).every((text) => text === null || typeof text === 'string');
}

/** Equal for claims that say the same, and for no others. Put together by hand: a log has millions of claims. */
export function textOfClaim(claim: RecordClaim, briefs: RecordedTexts): string {
  const { kind, organizationId, id, agentId, capability, status, entryId, members } = claim;
  const own = JSON.stringify([kind, organizationId, id, agentId, capability, status, entryId]);
  return `${own}${membersText(members)};${membersText(briefs as Readonly<Record<string, string | null>>)}`;
}

/** The texts of a row, each by its brief. */
export function briefsOf(kind: ClaimKind, shown: ShownTexts = {}): Record<string, string | null> {
  return Object.fromEntries(Object.entries(shown).map(([name, text]) => [name, text === null ? null : briefOfShown(kind, name, text)]));
}

/** In what a row and its entries differ, in words; never with a text of the row, which may be the only trace of what was erased. */
export function differences(row: RowClaim, fact: RecordedFact): string[] {
  const found: string[] = [];
  const compare = (name: string, has: ClaimValue, says: ClaimValue) => {
    if (has !== says) found.push(`${name} ${written(has)}, its entries say ${written(says)}`);
  };
  compare('status', row.status, fact.status);
  compare('capability', row.capability, fact.capability);
  compare('agent', row.agentId, fact.agentId);
  compare('last entry', row.entryId, fact.entryId);
  for (const name of new Set([...Object.keys(row.members), ...Object.keys(fact.members)])) {
    const isUnknown = Object.hasOwn(fact.members, name) && fact.members[name] === undefined;
    if (!isUnknown) compare(name, row.members[name] ?? null, fact.members[name] ?? null);
  }
  return [...found, ...differentTexts(row, fact).map((name) => `another ${name} than its entries say`)];
}

function differentTexts({ kind, shown }: RowClaim, { texts }: RecordedFact): string[] {
  if (!shown) return [];
  const names = [...new Set([...Object.keys(shown), ...Object.keys(texts)])];
  return names.filter((name) => !isSameText(kind, name, shown[name] ?? null, Object.hasOwn(texts, name) ? texts[name] : null));
}

/** With the length of each value before the value, so that none passes for two. */
function membersText(members: Readonly<Record<string, ClaimValue>>): string {
  let text = '';
  for (const name of Object.keys(members).sort()) {
    const value = members[name];
    if (value === undefined || value === null) continue;
    const content = String(value);
    text += `,${name} ${typeof value} ${content.length} ${content}`;
  }
  return text;
}

function written(value: ClaimValue): string {
  if (value === null || value === undefined) return 'nothing';
  const content = String(value);
  return content.length > 80 ? `${content.slice(0, 80)}…` : content;
}
