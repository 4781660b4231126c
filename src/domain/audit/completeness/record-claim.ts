import type { RecordKind, RecordRow, ShownTexts } from './record-row.js';
import type { StoredEntry } from '../entry/stored-entry.js';
import { outputSummary } from '../entry/output-summary.js';
import { agree, brief, type ToldText } from './superseded/shown-text.js';

/** A report and a settlement are told by entries of their own, later than the execution's, so they are compared apart. */
export type ClaimKind = RecordKind | 'report' | 'settlement';

/** Where an entry stands. */
export interface EntryRef {
  readonly chain: string;
  readonly position: number;
  readonly entryId: string | null;
}

/** Undefined where nobody can tell any more: it was erased, or cut off. */
export type ClaimValue = string | number | boolean | null | undefined;

/** What a row and its entries both say of one thing, in the same words: so it can be compared, or summed up. */
export interface RecordClaim {
  readonly kind: ClaimKind;
  readonly organizationId: string;
  readonly id: string;
  readonly agentId: string | null;
  readonly capability: string;
  readonly status: string;
  /** The entry that ended it; null while it goes on. */
  readonly entryId: string | null;
  readonly members: Readonly<Record<string, ClaimValue>>;
}

/** What a row says of it. */
export interface RowClaim extends RecordClaim {
  readonly shown?: ShownTexts | undefined;
  /** What it shows that no such row ever has: no entry is needed to tell. */
  readonly odd?: readonly string[] | undefined;
}

/** What its entries say of it, and where the last of them stands. */
export interface RecordedFact extends RecordClaim {
  readonly texts?: RecordedTexts | undefined;
  readonly place: EntryRef;
}

/** Whether the row shows under this name what erasing may have left of a text whose `brief` is another. */
export type IsErased = (name: string, brief: string) => boolean;

/** Where what entries say goes: what they tell, and where they contradict themselves. */
export interface RecordedFactListener {
  told(fact: RecordedFact): void;
  /** What the row of this key shows in the place of what it is told to. */
  erasedIn(key: string): IsErased;
  contradiction(place: EntryRef, detail: string): void;
}

/** What entries say of what a row shows, by the names that rows use. */
export type RecordedTexts = Readonly<Record<string, ToldText>>;

const ALWAYS = ['hitlId', 'requestedBy', 'flagged', 'mode', 'reason', 'durationMs'];
const BEGUN = [...ALWAYS, 'grantId', 'grantVersion', 'definition'];

/** Members that count in each state of a row, also where it must have none: by which grant something was blocked, no entry says. */
const EXECUTION_MEMBERS: ReadonlyMap<string, readonly string[]> = new Map([
  ['pending_hitl', BEGUN], ['running', BEGUN], ['executed', BEGUN], ['failed', BEGUN], ['indeterminate', BEGUN], ['cancelled', BEGUN],
  ['blocked', ALWAYS],
]);

/** A row in the words of the entries: itself, and what was said of it afterwards. */
export function claimsOfRow(kind: RecordKind, row: RecordRow): RowClaim[] {
  const { organizationId, id, agentId, capability, status, texts, odd } = row;
  const { entryId = null, reported = null, reportedMs = null, settled = null, settledBy = null, ...members } = row.members;
  const same = { organizationId, id, agentId, capability };
  const counted = kind === 'execution' ? chosen(members, EXECUTION_MEMBERS.get(status) ?? []) : members;
  const facts: RowClaim[] = [{ kind, ...same, status, entryId: entryId as string | null, members: counted, shown: texts?.own, odd }];
  const later = { organizationId, id, agentId: null, capability, entryId: null };
  if (reported !== null) {
    facts.push({ kind: 'report', ...later, status: String(reported), members: { durationMs: reportedMs }, shown: texts?.report });
  }
  if (settled !== null) {
    facts.push({ kind: 'settlement', ...later, status: String(settled), members: { settledBy }, shown: texts?.settlement });
  }
  return facts;
}

/** Those of an execution's members that count in this state. */
export function countedMembers(status: string, members: Readonly<Record<string, ClaimValue>>): Record<string, ClaimValue> {
  return chosen(members, EXECUTION_MEMBERS.get(status) ?? []);
}

function chosen<Value extends ClaimValue>(members: Readonly<Record<string, Value>>, names: readonly string[]): Record<string, Value> {
  return Object.fromEntries(names.map((name) => [name, (members[name] ?? null) as Value]));
}

export function entryRefOf({ chain, seq, id }: StoredEntry): EntryRef {
  return { chain, position: seq, entryId: id };
}

/** Of an entry that does not fit those before it. */
export function sentence({ chain, position }: EntryRef, what: string): string {
  return `entry ${position} of chain ${chain} ${what}`;
}

export function keyOfClaim({ kind, organizationId, id }: Pick<RecordClaim, 'kind' | 'organizationId' | 'id'>): string {
  return `${kind} ${organizationId} ${id}`;
}

/** Equal for facts that say the same, and for no others. Put together by hand: a log has millions of them. */
export function textOfClaim(fact: RecordClaim, texts: Readonly<Record<string, string | null>> = {}): string {
  const { kind, organizationId, id, agentId, capability, status, entryId, members } = fact;
  const own = JSON.stringify([kind, organizationId, id, agentId, capability, status, entryId]);
  return `${own}${present(members)};${present(texts)}`;
}

/** In the form in which entries tell them: of an output, its beginning. */
export function briefOf(kind: ClaimKind, name: string, shown: string): string {
  return brief(kind === 'execution' && name === 'output' ? outputSummary(shown) : shown);
}

/** @param without names of texts that are left out */
export function briefed({ kind, shown = {} }: Pick<RowClaim, 'kind' | 'shown'>, without: RecordedTexts = {}): Record<string, string | null> {
  const texts: Record<string, string | null> = {};
  for (const [name, text] of Object.entries(shown)) {
    if (!Object.hasOwn(without, name)) texts[name] = text === null ? null : briefOf(kind, name, text);
  }
  return texts;
}

/** Which of the texts that a row shows are others than its entries say; never the texts, of which these may be the only traces. */
export function otherTexts({ kind, shown }: Pick<RowClaim, 'kind' | 'shown'>, told: RecordedTexts | undefined): string[] {
  if (!shown || !told) return [];
  const isOther = (name: string) => {
    const [text, said] = [shown[name] ?? null, told[name]];
    return typeof said === 'string' ? text === null || briefOf(kind, name, text) !== said : !agree(text, said);
  };
  return Object.keys(told).filter(isOther).map((name) => `another ${name} than its entries say`);
}

/** In what a row and its entries differ, in words; nothing where they agree. What nobody can tell any more agrees with anything. */
export function differences(row: RowClaim, told: RecordedFact): string[] {
  const found: string[] = [];
  const compare = (name: string, has: ClaimValue, said: ClaimValue) => {
    if (said !== undefined && has !== undefined && (has ?? null) !== (said ?? null)) {
      found.push(`${name} ${written(has)}, its entries say ${written(said)}`);
    }
  };
  compare('status', row.status, told.status);
  compare('capability', row.capability, told.capability);
  compare('agent', row.agentId, told.agentId);
  compare('last entry', row.entryId, told.entryId);
  for (const name of new Set([...Object.keys(row.members), ...Object.keys(told.members)])) {
    const isUntold = Object.hasOwn(told.members, name) && told.members[name] === undefined;
    if (!isUntold) compare(name, row.members[name] ?? null, told.members[name] ?? null);
  }
  return [...found, ...otherTexts(row, told.texts)];
}

/** With the length of each value before it, so that none passes for two. */
function present(members: Readonly<Record<string, ClaimValue>>): string {
  let text = '';
  for (const name of Object.keys(members).sort()) {
    const value = members[name];
    if (value === undefined || value === null) continue;
    const said = String(value);
    text += `,${name} ${typeof value} ${said.length} ${said}`;
  }
  return text;
}

function written(value: ClaimValue): string {
  if (value === null || value === undefined) return 'nothing';
  const content = String(value);
  return content.length > 80 ? `${content.slice(0, 80)}…` : content;
}
