import type { RecordKind, RecordRow } from '../record-row.js';

/** A report and a settlement are told by entries of their own, later than the execution's, so they are compared apart. */
export type FactKind = RecordKind | 'report' | 'settlement';

/** Where an entry stands. */
export interface Place {
  readonly chain: string;
  readonly position: number;
  readonly entryId: string | null;
}

/** Undefined where nobody can tell any more: it was erased, or cut off. */
export type FactValue = string | number | boolean | null | undefined;

/** What a row and its entries both say of one thing, in the same words: so it can be compared, or summed up. */
export interface RecordFact {
  readonly kind: FactKind;
  readonly organizationId: string;
  readonly id: string;
  readonly agentId: string | null;
  readonly capability: string;
  readonly status: string;
  /** The entry that ended it; null while it goes on. */
  readonly entryId: string | null;
  readonly members: Readonly<Record<string, FactValue>>;
}

/** What its entries say of it, and where the last of them stands. */
export interface ToldFact extends RecordFact {
  readonly place: Place;
}

/** Members that count in each state of a row: the others hold what no entry says, or says of another moment. */
const EXECUTION_MEMBERS: Readonly<Record<string, readonly string[]>> = {
  pending_hitl: ['hitlId', 'grantId', 'grantVersion', 'definition'],
  running: ['hitlId', 'grantId', 'grantVersion', 'definition'],
  executed: ['hitlId', 'grantId', 'grantVersion', 'definition'],
  failed: ['hitlId', 'grantId', 'grantVersion', 'definition'],
  indeterminate: ['hitlId', 'grantId', 'grantVersion', 'definition'],
  cancelled: ['hitlId', 'grantId', 'grantVersion', 'definition', 'reason'],
  blocked: ['reason'],
};

/** A row in the words of the entries: itself, and what was said of it afterwards. */
export function factsOfRow(kind: RecordKind, row: RecordRow): RecordFact[] {
  const { organizationId, id, agentId, capability, status } = row;
  const { entryId = null, reported = null, settled = null, settledBy = null, ...members } = row.members;
  const same = { organizationId, id, agentId, capability };
  const counted = kind === 'execution' ? chosen(members, EXECUTION_MEMBERS[status] ?? []) : members;
  const facts: RecordFact[] = [{ kind, ...same, status, entryId: entryId as string | null, members: counted }];
  const later = { organizationId, id, agentId: null, capability, entryId: null };
  if (reported !== null) facts.push({ kind: 'report', ...later, status: String(reported), members: {} });
  if (settled !== null) facts.push({ kind: 'settlement', ...later, status: String(settled), members: { settledBy } });
  return facts;
}

/** Those of an execution's members that count in this state. */
export function countedMembers(status: string, members: Readonly<Record<string, FactValue>>): Record<string, FactValue> {
  return chosen(members, EXECUTION_MEMBERS[status] ?? []);
}

function chosen<Value extends FactValue>(members: Readonly<Record<string, Value>>, names: readonly string[]): Record<string, Value> {
  return Object.fromEntries(names.map((name) => [name, (members[name] ?? null) as Value]));
}

export function keyOfFact({ kind, organizationId, id }: Pick<RecordFact, 'kind' | 'organizationId' | 'id'>): string {
  return `${kind} ${organizationId} ${id}`;
}

/** Equal for facts that say the same, and for no others. */
export function textOfFact(fact: RecordFact): string {
  const members = Object.entries(fact.members).filter(([, value]) => value !== undefined && value !== null).sort(byName);
  return JSON.stringify([fact.kind, fact.organizationId, fact.id, fact.agentId, fact.capability, fact.status, fact.entryId, members]);
}

/** In what a row and its entries differ, in words; nothing where they agree. What nobody can tell any more agrees with anything. */
export function differences(row: RecordFact, told: RecordFact): string[] {
  const found: string[] = [];
  const compare = (name: string, has: FactValue, said: FactValue) => {
    if (said !== undefined && has !== undefined && (has ?? null) !== (said ?? null)) {
      found.push(`${name} ${shown(has)}, its entries say ${shown(said)}`);
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
  return found;
}

function shown(value: FactValue): string {
  if (value === null || value === undefined) return 'nothing';
  const content = String(value);
  return content.length > 80 ? `${content.slice(0, 80)}…` : content;
}

function byName([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
