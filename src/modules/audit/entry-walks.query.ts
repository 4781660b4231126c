import { firstIdAt } from '../../domain/ids.js';
import type { Selection } from './entry-selection.js';

/**
 * By how much the time in an entry's id and the one it is stamped with may differ, and neighbours in a chain from the order of
 * time, in milliseconds: by these an index is cut, and the stamped time is compared besides.
 */
export const NEAR_MS = 60_000;

/** Up to so many stretches of an index are merged as they are read, for a page that begins deep; else the newest of each are sorted. */
const MERGED = 64;
const DEEP = 600;

export interface Statement {
  readonly sql: string;
  readonly parameters: unknown[];
}

const OFF = ['enable_seqscan', 'enable_bitmapscan', 'enable_hashjoin', 'enable_mergejoin', 'enable_sort', 'enable_hashagg', 'jit'];

/**
 * Goes before the statements, in their transaction: an index is read in its order and no further than is wanted. By its estimates,
 * which are old where a log grows fast, the planner would rather collect all of a stretch first; only the few of each are sorted. (What
 * is in order but for ties is sorted as it comes, which reads no further.)
 */
export const IN_ORDER = OFF.map((setting) => `set local ${setting} = off`).join('; ');

export interface Extent {
  /** The key behind which the page begins. */
  readonly after: string | null;
  readonly limit: number;
  readonly offset: number;
}

/** An index: its table, the key it is ordered by, and the columns whose texts are hashed before it; none: the table's own key. */
interface Index {
  readonly table: 'audit_entries' | 'audit_subjects';
  readonly key: 'seq' | 'id' | 'entry_id';
  readonly hashed: readonly string[];
}

/** The keys of one page, newest first: columns `organization_id` and `key`, which is `keyOf` the selection. */
export function pageStatement(selection: Selection, organizations: readonly string[], { after, limit, offset }: Extent): Statement {
  const walk = new Walk(selection);
  const { key } = walk.index;
  const begin = walk.parameter(after);
  const type = key === 'seq' ? 'bigint' : 'text';
  const behind = `(${begin}::${type} is null or e.${key} < ${begin}::${type})`;
  const most = limit + offset;
  const columns = `select ${walk.distinct}e.organization_id, e.${key} as key`;
  const each = (conditions: string) =>
    `${columns} ${walk.from} where ${conditions} and ${behind} order by e.${key} desc limit ${most}`;
  const stretches = organizations.length * walk.events.length;
  const found = most > DEEP && stretches > 1 && stretches <= MERGED ? walk.merged(organizations, each) : walk.sorted(organizations, each);
  const sql = `select found.* from (${found}) found order by found.key desc limit ${limit} offset ${offset}`;
  return { sql, parameters: walk.parameters };
}

/** How many there are, counted up to a number: column `total`. */
export function countStatement(selection: Selection, organizations: readonly string[], most: number): Statement {
  const walk = new Walk(selection);
  const found = walk.sorted(organizations, (conditions) =>
    `select ${walk.distinct}e.${walk.index.key} as key ${walk.from} where ${conditions} order by 1 desc limit ${most}`);
  const sql = `select count(*)::integer as total from (select from (${found}) found limit ${most}) counted`;
  return { sql, parameters: walk.parameters };
}

/** By what the selection's entries are in order: within a chain by position, else by id, which sorts by the time it was made at. */
export function keyOf({ chain }: Selection): 'seq' | 'id' {
  return chain === undefined ? 'id' : 'seq';
}

/**
 * The index in which what a selection finds stands together, chosen by which filters there are and not by statistics: each single
 * filter and each pair has one, so that only matching entries are read. What is asked for besides is compared on the way.
 */
function indexOf({ chain, user, events, capability }: Selection): Index {
  if (user !== undefined) {
    const hashed = chain !== undefined ? ['chain'] : capability !== undefined ? ['capability'] : events !== undefined ? ['event'] : [];
    return {
      table: 'audit_subjects', key: chain === undefined ? 'entry_id' : 'seq',
      hashed: hashed.length === 0 ? [] : ['organization_id', 'user_id', ...hashed],
    };
  }
  const ofCapability = chain === undefined ? ['capability', 'event'] : ['capability'];
  const kind = capability !== undefined ? ofCapability : events !== undefined ? ['event'] : [];
  if (kind.length === 0) return { table: 'audit_entries', key: chain === undefined ? 'id' : 'seq', hashed: [] };
  return chain === undefined
    ? { table: 'audit_entries', key: 'id', hashed: ['organization_id', ...kind] }
    : { table: 'audit_entries', key: 'seq', hashed: ['organization_id', 'agent_id', ...kind] };
}

/** Puts together the SQL of one statement over the stretches of an index: one for each organization and, where it has them, event. */
class Walk {
  readonly parameters: unknown[] = [];
  readonly index: Index;
  readonly from: string;
  /** A subject may be one of its entry by several members. */
  readonly distinct: string;
  /** Of the stretches; one that is undefined where the index knows no events. */
  readonly events: readonly (string | undefined)[];
  private readonly fixed: Record<string, string> = {};
  private readonly conditions: string[] = [];

  constructor(private readonly selection: Selection) {
    this.index = indexOf(selection);
    const isSubject = this.index.table === 'audit_subjects';
    this.from = isSubject ? 'from audit_subjects e' : 'from audit_entries e';
    this.distinct = isSubject ? 'distinct ' : '';
    const byEvent = this.index.hashed.includes('event');
    this.events = byEvent ? selection.events! : [undefined];
    const { chain, capability, user, events, byAgent, reader, from, to } = selection;
    if (chain !== undefined) this.fixed['chain'] = this.text(chain);
    if (chain !== undefined && !isSubject) this.fixed['agent_id'] = this.fixed['chain']!;
    if (capability !== undefined) this.fixed['capability'] = this.text(capability);
    if (user !== undefined) this.fixed['user_id'] = this.text(user);
    if (events !== undefined && !byEvent) this.conditions.push(`e.event = any (${this.parameter(events)}::text[])`);
    if (byAgent === true) this.conditions.push('e.actor_id = e.agent_id');
    if (from !== undefined) this.conditions.push(`e."timestamp" >= ${this.text(from)}`);
    if (to !== undefined) this.conditions.push(`e."timestamp" <= ${this.text(to)}`);
    if (reader !== undefined) {
      this.conditions.push(`exists (select from audit_subjects s where s.organization_id = e.organization_id
        and s.user_id = ${this.text(reader)} and s.entry_id = e.${isSubject ? 'entry_id' : 'id'})`);
    }
  }

  parameter(value: unknown): string {
    return `$${this.parameters.push(value)}`;
  }

  /** The newest of each stretch, to be sorted together. */
  sorted(organizations: readonly string[], each: (conditions: string) => string): string {
    const types = this.index.hashed.includes('event') ? ` cross join unnest(${this.parameter(this.events)}::text[]) as t(event)` : '';
    return `select stretch.* from unnest(${this.parameter(organizations)}::text[]) as o(id)${types}
      cross join lateral (${each(this.stretch('o.id', types === '' ? undefined : 't.event'))}) stretch`;
  }

  /** Each stretch for itself, in order: the database merges them and reads no more of any than is wanted. */
  merged(organizations: readonly string[], each: (conditions: string) => string): string {
    return organizations.flatMap((organization) => {
      const place = this.text(organization);
      return this.events.map((event) => `(${each(this.stretch(place, event === undefined ? undefined : this.text(event)))})`);
    }).join(' union all ');
  }

  private stretch(organization: string, event: string | undefined): string {
    const texts: Record<string, string> = { organization_id: organization, ...this.fixed, ...(event === undefined ? {} : { event }) };
    const { hashed } = this.index;
    const [stored, wanted] = [hashed.map((column) => `e.${column}`), hashed.map((column) => texts[column]!)];
    const parts = hashed.length === 0 ? [] : [`${hashOf(stored)} = ${hashOf(wanted)}`];
    // Behind a hash the texts are only compared: as conditions of another index they would have that one walked, match or not.
    const compared = hashed.length === 0 ? '' : ` || ''`;
    for (const [column, text] of Object.entries(texts)) parts.push(`e.${column}${compared} = ${text}`);
    return [...parts, ...this.near(organization), ...this.conditions].join(' and ');
  }

  /** The part of the index outside of which no entry of the asked time is. */
  private near(organization: string): string[] {
    const { from, to, chain } = this.selection;
    const { key } = this.index;
    const at = (time: string, distance: number) => {
      const milliseconds = Date.parse(time) + distance;
      if (key !== 'seq') return this.text(firstIdAt('audit', milliseconds));
      return `audit_seq_at_v1(${organization}, ${this.text(chain!)}, ${this.text(timeText(milliseconds))})`;
    };
    return [
      ...(from === undefined ? [] : [`e.${key} >= ${at(from, -NEAR_MS)}`]),
      ...(to === undefined ? [] : [`e.${key} < ${at(to, NEAR_MS + 1)}`]),
    ];
  }

  private text(value: string): string {
    return `${this.parameter(value)}::text`;
  }
}

/** As the migration's indexes have it, letter for letter: else they do not serve. */
function hashOf(texts: readonly string[]): string {
  return `hashtextextended((${texts.join(` || ' ' || `)}) collate "C", 0)`;
}

const LAST_MS = Date.parse('9999-12-31T23:59:59.999Z');

/** Within the years that an entry's time can have. */
function timeText(milliseconds: number): string {
  return new Date(Math.min(Math.max(milliseconds, 0), LAST_MS)).toISOString();
}
