import { isJsonObject } from '../../json.js';
import type { Finding } from '../integrity/findings.js';
import { chainKey } from '../entry/chain.js';
import { NAMING_EVENTS, NAMING_IN_VALUES, namingMembers, subjectsIn } from '../entry/prepare-entry.js';
import { ERASED } from '../entry/read-entry.js';
import type { StoredEntry } from '../entry/stored-entry.js';
import type { RecordedRetentionRuns } from './completeness.js';
import { isolateFailure } from '../replay/isolate-failure.js';
import { type OpenEntry, openEntry } from '../entry/open-entry.js';
import { bucketOf, RecordHashes } from './record-hashes.js';

/** A row of `audit_subjects`: a person whom an entry concerns, the pointer into the entry, and columns that repeat the entry. */
export interface SubjectRow
  extends Pick<StoredEntry, 'organizationId' | 'chain' | 'seq' | 'event' | 'capability' | 'outcome' | 'timestamp'> {
  readonly userId: string;
  readonly entryId: string;
  readonly pointer: string;
}

export interface SubjectSources {
  subjects(): AsyncIterable<readonly SubjectRow[]>;
  /** The entries once more: read only where something differs, to name the rows. */
  entries(): AsyncIterable<readonly StoredEntry[]>;
}

/** Buckets with differences whose rows are named; the others are only counted. */
const BUCKETS_NAMED = 1_000;

/**
 * Whether `audit_subjects`, by which erasures and copies find a person's entries, has exactly the people whom the entries name. Both sides
 * are summed up, and read once more where the sums differ.
 */
export class SubjectIndexCheck {
  private readonly sums: RecordHashes;
  /** The first position that is left, of each chain that was cut. */
  private readonly firstPositions = new Map<string, number>();
  /** Entries that may have named somebody in a value that is erased: their rows for values are not compared. */
  private readonly partlyErased = new Set<string>();
  private lastChain = '';

  constructor(key: Uint8Array, private readonly runs: RecordedRetentionRuns) {
    this.sums = new RecordHashes(key);
  }

  /** @param opened the entry, with values where `NAMING_IN_VALUES`; undefined where the caller has not opened the entry */
  entry(stored: StoredEntry, opened?: OpenEntry): void {
    const key = chainKey(stored);
    if (key !== this.lastChain && this.runs.sweptAt(stored.organizationId, stored.chain) !== undefined) {
      this.firstPositions.set(key, stored.seq);
    }
    this.lastChain = key;
    const { rows, isPartlyErased } = rowsFor(stored, opened);
    if (isPartlyErased) this.partlyErased.add(stored.id);
    for (const row of rows) this.sums.add(stored.id, textOf(row));
  }

  async end({ subjects, entries }: SubjectSources): Promise<{ breaks: readonly Finding[]; breaksFound: number }> {
    for await (const batch of subjects()) for (const row of batch) if (this.isCompared(row)) this.sums.subtract(row.entryId, textOf(row));
    const unequal = this.sums.unequal();
    if (unequal.size === 0) return { breaks: [], breaksFound: 0 };
    const breaks = await this.name(new Set([...unequal].slice(0, BUCKETS_NAMED)), { subjects, entries });
    return { breaks, breaksFound: breaks.length + Math.max(0, unequal.size - BUCKETS_NAMED) };
  }

  private async name(named: ReadonlySet<number>, { subjects, entries }: SubjectSources): Promise<Finding[]> {
    const wanted = new Map<string, SubjectRow>();
    for await (const batch of entries()) {
      for (const stored of batch) {
        const isAsked = named.has(bucketOf(stored.id)) && stored.seq >= (this.firstPositions.get(chainKey(stored)) ?? 0);
        const rows = isAsked ? isolateFailure(() => rowsFor(stored).rows, () => []) : [];
        for (const row of rows) wanted.set(textOf(row), row);
      }
    }
    const found: Finding[] = [];
    for await (const batch of subjects()) {
      for (const row of batch) {
        if (!named.has(bucketOf(row.entryId)) || !this.isCompared(row) || wanted.delete(textOf(row))) continue;
        found.push(mismatch(row, 'which does not say so there'));
      }
    }
    for (const row of wanted.values()) found.push(mismatch(row, 'and audit_subjects does not say so', false));
    return found;
  }

  /** Rows of swept entries are removed later, and are not compared. */
  private isCompared(row: SubjectRow): boolean {
    if (this.partlyErased.has(row.entryId) && isWithin(row.event, row.pointer)) return false;
    if (this.runs.sweptAt(row.organizationId, row.chain) === undefined) return true;
    return row.seq >= (this.firstPositions.get(chainKey(row)) ?? Infinity);
  }
}

interface ExpectedRows {
  readonly rows: readonly SubjectRow[];
  readonly isPartlyErased: boolean;
}

const NO_ROWS: ExpectedRows = { rows: [], isPartlyErased: false };

/** The rows that the table must have for an entry; none for one that cannot be read, which the check of the chains reports. */
function rowsFor(stored: StoredEntry, opened?: OpenEntry): ExpectedRows {
  const { event, agentId, actorId, organizationId, id: entryId, chain, seq, capability, outcome, timestamp } = stored;
  // Most entries of a log are agents' own, and name nobody.
  if (!NAMING_EVENTS.has(event) && actorId === agentId) return NO_ROWS;
  const read = opened ?? openEntry(stored, NAMING_IN_VALUES.has(event));
  if (!read) return NO_ROWS;
  const isPartlyErased = NAMING_IN_VALUES.has(event) && namingMembers(event).some(({ name, keys }) => hasLostNames(read, name, keys));
  const subjects = subjectsIn({ event, actorId, agentId, origin: read.origin, metadata: read.metadata })
    .filter(({ pointer }) => !isPartlyErased || !isWithin(event, pointer));
  const rows = new Map(subjects.map(({ userId, pointer }) =>
    [`${userId} ${pointer}`, { organizationId, userId, entryId, pointer, chain, seq, event, capability, outcome, timestamp }]));
  return { rows: [...rows.values()], isPartlyErased };
}

/** Whether a member that may name people has lost one of the names. */
function hasLostNames({ metadata, erased }: OpenEntry, name: string, keys: readonly string[]): boolean {
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
