import { isJsonObject } from '../../json.js';
import type { Finding } from '../integrity/findings.js';
import { NAMING_EVENTS, NAMING_IN_VALUES, namingMembers, subjectsIn } from '../entry/prepare-entry.js';
import { ERASED } from '../entry/read-entry.js';
import type { StoredEntry } from '../entry/stored-entry.js';
import type { RecordedRetentionRuns } from './completeness.js';
import { isolateFailure } from '../replay/isolate-failure.js';
import { type OpenEntry, openEntry } from '../entry/open-entry.js';
import { bucketOf, RecordHashes } from './record-hashes.js';

/** A row of `audit_subjects`: whom an entry concerns, where it says so, and what the row repeats of the entry. */
export interface SubjectRow {
  readonly organizationId: string;
  readonly userId: string;
  readonly entryId: string;
  readonly pointer: string;
  readonly chain: string;
  readonly seq: number;
  readonly event: string;
  readonly capability: string | null;
  readonly outcome: string | null;
  readonly timestamp: string;
}

export interface SubjectSources {
  subjects(): AsyncIterable<readonly SubjectRow[]>;
  /** The entries that were judged, once more. Asked only where something differs, to name it. */
  entries(): AsyncIterable<readonly StoredEntry[]>;
}

/** As many groups are named; of each of the rest only that it differs is told. */
const GROUPS_NAMED = 1_000;

/**
 * Whether the table by which a person's entries are found names whom the entries name: an erasure and a person's copy go by it. What
 * its rows must be is told by each entry; both sides are summed up, and read once more where the sums differ.
 */
export class SubjectIndexCheck {
  private readonly sums: RecordHashes;
  /** Of each chain that was cut: its first position that is left. */
  private readonly firsts = new Map<string, number>();
  /** Entries of which an erased value may have named somebody: of what they say within values nobody can tell. */
  private readonly hiding = new Set<string>();
  private last = '';

  constructor(
    key: Uint8Array,
    private readonly sweeps: RecordedRetentionRuns,
  ) {
    this.sums = new RecordHashes(key);
  }

  /** @param opened where somebody else has opened it, with values where `NAMING_IN_VALUES` */
  entry(stored: StoredEntry, opened?: OpenEntry): void {
    this.begin(stored);
    const read = readOf(stored, opened);
    if (!read) return;
    if (read.isHiding) this.hiding.add(stored.id);
    for (const row of rowsOf(read)) this.sums.add(stored.id, textOf(row));
  }

  private begin(first: StoredEntry): void {
    const key = chainKey(first);
    if (key === this.last) return;
    this.last = key;
    if (this.sweeps.sweptAt(first.organizationId, first.chain) !== undefined) this.firsts.set(key, first.seq);
  }

  async end({ subjects, entries }: SubjectSources): Promise<{ breaks: readonly Finding[]; breaksFound: number }> {
    for await (const batch of subjects()) for (const row of batch) if (this.counts(row)) this.sums.subtract(row.entryId, textOf(row));
    const unequal = this.sums.unequal();
    if (unequal.size === 0) return { breaks: [], breaksFound: 0 };
    const breaks = await this.name(new Set([...unequal].slice(0, GROUPS_NAMED)), { subjects, entries });
    return { breaks, breaksFound: breaks.length + Math.max(0, unequal.size - GROUPS_NAMED) };
  }

  private async name(named: ReadonlySet<number>, { subjects, entries }: SubjectSources): Promise<Finding[]> {
    const wanted = new Map<string, SubjectRow>();
    for await (const batch of entries()) {
      for (const stored of batch) {
        const isAsked = named.has(bucketOf(stored.id)) && stored.seq >= (this.firsts.get(chainKey(stored)) ?? 0);
        const rows = isAsked ? isolateFailure(() => peopleIn(stored), () => []) : [];
        for (const row of rows) wanted.set(textOf(row), row);
      }
    }
    const found: Finding[] = [];
    for await (const batch of subjects()) {
      for (const row of batch) {
        if (!named.has(bucketOf(row.entryId)) || !this.counts(row) || wanted.delete(textOf(row))) continue;
        found.push(mismatch(row, 'which does not say so there'));
      }
    }
    for (const row of wanted.values()) found.push(mismatch(row, 'and audit_subjects does not say so', false));
    return found;
  }

  /** Rows of entries that a sweep has taken go after them. */
  private counts(row: SubjectRow): boolean {
    if (this.hiding.has(row.entryId) && isWithin(row.event, row.pointer)) return false;
    if (this.sweeps.sweptAt(row.organizationId, row.chain) === undefined) return true;
    return row.seq >= (this.firsts.get(chainKey(row)) ?? Infinity);
  }
}

interface ReadPeople extends OpenEntry {
  readonly isHiding: boolean;
}

/** Undefined where it names nobody, or cannot be read, which the pass over the chains says. */
function readOf(stored: StoredEntry, opened?: OpenEntry): ReadPeople | undefined {
  const { event, agentId, actorId } = stored;
  const isNaming = NAMING_EVENTS.has(event);
  // What an agent does in its own chain concerns nobody else, as a rule, and is most of a log.
  if (!isNaming && actorId === agentId) return undefined;
  const read = opened ?? openEntry(stored, NAMING_IN_VALUES.has(event));
  if (!read) return undefined;
  const isHiding = NAMING_IN_VALUES.has(event) && namingMembers(event).some(({ name, keys }) => hides(read, name, keys));
  return { ...read, isHiding };
}

function peopleIn(stored: StoredEntry): SubjectRow[] {
  const read = readOf(stored);
  return read ? rowsOf(read) : [];
}

/** What the table must hold of an entry. */
function rowsOf({ stored, origin, metadata, isHiding }: ReadPeople): SubjectRow[] {
  const { event, agentId, actorId, organizationId, id: entryId, chain, seq, capability, outcome, timestamp } = stored;
  const subjects = subjectsIn({ event, actorId, agentId, origin, metadata });
  const rows = new Map<string, SubjectRow>();
  for (const { userId, pointer } of subjects) {
    if (isHiding && isWithin(event, pointer)) continue;
    rows.set(`${userId} ${pointer}`, { organizationId, userId, entryId, pointer, chain, seq, event, capability, outcome, timestamp });
  }
  return [...rows.values()];
}

/** Whether a member that names people within it does not show all of those any more. */
function hides({ metadata, erased }: OpenEntry, name: string, keys: readonly string[]): boolean {
  if (!erased.has(name)) return false;
  const shown = metadata[name];
  return !isJsonObject(shown) || Object.hasOwn(shown, ERASED) || keys.some((key) => shown[key] === ERASED);
}

function isWithin(event: string, pointer: string): boolean {
  return namingMembers(event).some(({ name }) => pointer.startsWith(`/metadata/${name}/`));
}

function textOf(row: SubjectRow): string {
  const { organizationId, userId, entryId, pointer, chain, seq, event, capability, outcome, timestamp } = row;
  return JSON.stringify([organizationId, userId, entryId, pointer, chain, seq, event, capability, outcome, timestamp]);
}

function mismatch({ chain, seq, entryId, userId, pointer }: SubjectRow, what: string, isRow = true): Finding {
  const detail = isRow
    ? `audit_subjects says that entry ${seq} of chain ${chain} names ${userId} at ${pointer}, ${what}`
    : `entry ${seq} of chain ${chain} names ${userId} at ${pointer}, ${what}`;
  return { chain, position: seq, entryId, kind: 'column_mismatch', detail };
}

function chainKey({ organizationId, chain }: { readonly organizationId: string; readonly chain: string }): string {
  return `${organizationId} ${chain}`;
}
