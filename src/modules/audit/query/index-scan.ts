import { firstIdAt } from '../../../domain/ids.js';
import type { Selection } from './entry-selection.js';

/**
 * By how much the time in an entry's id and the one it is stamped with may differ, and neighbours in a chain from the order of
 * time, in milliseconds: by these an index is cut, and the stamped time is compared besides. A closing is stamped when its action has
 * ended, and may be committed as late as its lease allows: 120 s and 30 s of grace.
 */
export const NEAR_MS = 160_000;

/** An index: its table, the key it is ordered by, and the columns whose texts are hashed before it; none: the table's own key. */
interface Index {
  readonly table: 'audit_entries' | 'audit_subjects';
  readonly key: 'seq' | 'id' | 'entry_id';
  readonly hashed: readonly string[];
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
    const table = 'audit_subjects';
    if (chain !== undefined) return { table, key: 'seq', hashed: ['organization_id', 'user_id', 'chain'] };
    if (capability !== undefined) return { table, key: 'entry_id', hashed: ['organization_id', 'user_id', 'capability'] };
    return { table, key: 'entry_id', hashed: events === undefined ? [] : ['organization_id', 'user_id', 'event'] };
  }
  const table = 'audit_entries';
  if (chain === undefined) {
    const kind = capability !== undefined ? ['capability', 'event'] : events !== undefined ? ['event'] : [];
    return { table, key: 'id', hashed: kind.length === 0 ? [] : ['organization_id', ...kind] };
  }
  const kind = capability !== undefined ? ['capability'] : events !== undefined ? ['event'] : [];
  return { table, key: 'seq', hashed: kind.length === 0 ? [] : ['organization_id', 'agent_id', ...kind] };
}

/** Puts together the SQL of one statement over the stretches of an index: one for each organization and, where it has them, event. */
export class IndexScan {
  readonly parameters: unknown[] = [];
  readonly index: Index;
  /** Of the stretches; one that is undefined where the index knows no events. */
  readonly events: readonly (string | undefined)[];
  private readonly isSubject: boolean;
  private readonly fixed: Record<string, string> = {};
  /** What is compared besides. */
  readonly conditions: string[] = [];
  /** Parts of the index outside of which nothing is wanted, beside those by time. */
  private readonly bounds: string[] = [];

  /** @param after the key behind which a page begins */
  constructor(readonly selection: Selection, readonly after: string | null = null) {
    this.index = indexOf(selection);
    this.isSubject = this.index.table === 'audit_subjects';
    const byEvent = this.index.hashed.includes('event');
    this.events = byEvent ? selection.events! : [undefined];
    const { chain, capability, user, events, byAgent, reader, from, to } = selection;
    if (chain !== undefined) this.fixed['chain'] = this.text(chain);
    if (chain !== undefined && !this.isSubject) this.fixed['agent_id'] = this.fixed['chain']!;
    if (capability !== undefined) this.fixed['capability'] = this.text(capability);
    if (user !== undefined) this.fixed['user_id'] = this.text(user);
    if (events !== undefined && !byEvent) this.conditions.push(`e.event = any (${this.parameter(events)}::text[])`);
    if (byAgent === true) this.conditions.push('e.actor_id = e.agent_id');
    if (from !== undefined) this.conditions.push(`e."timestamp" >= ${this.text(from)}`);
    if (to !== undefined) this.conditions.push(`e."timestamp" <= ${this.text(to)}`);
    if (reader !== undefined) {
      this.conditions.push(`exists (select from audit_subjects s where s.organization_id = e.organization_id
        and s.user_id = ${this.text(reader)} and s.entry_id = e.${this.isSubject ? 'entry_id' : 'id'})`);
    }
    const { key } = this.index;
    const type = key === 'seq' ? 'bigint' : 'text';
    if (after !== null) this.bounds.push(`e.${key} < ${this.parameter(after)}::${type}`);
  }

  parameter(value: unknown): string {
    return `$${this.parameters.push(value)}`;
  }

  /** Rows of the table that fit, newest first, as columns `organization_id` and `key`. */
  newestKeys(conditions: string, most: number): string {
    const { key } = this.index;
    // A subject may be one of its entry by several members.
    const [distinct, from] = this.isSubject ? ['distinct ', 'from audit_subjects e'] : ['', 'from audit_entries e'];
    return `select ${distinct}e.organization_id, e.${key} as key ${from} where ${conditions}
      order by e.${key} desc limit ${most}`;
  }

  /** The newest of each stretch. */
  newest(organizations: readonly string[]): string {
    const { source, stretch, event } = this.stretches(organizations);
    return `select first.organization_id, ${event} as event, first.key ${source}
      cross join lateral (${this.newestKeys(stretch, 1)}) first`;
  }

  /** All of each stretch, one stretch behind the other, up to a number. */
  everything(organizations: readonly string[], most: number): string {
    const { source, stretch } = this.stretches(organizations);
    return `select ${source} cross join lateral (${this.newestKeys(stretch, most)}) one limit ${most}`;
  }

  private stretches(organizations: readonly string[]): { source: string; stretch: string; event: string } {
    const source = `from unnest(${this.parameter(organizations)}::text[]) as o(id)`;
    if (!this.index.hashed.includes('event')) return { source, stretch: this.stretch('o.id'), event: 'null::text' };
    const types = ` cross join unnest(${this.parameter(this.events)}::text[]) as t(event)`;
    return { source: source + types, stretch: this.stretch('o.id', 't.event'), event: 't.event' };
  }

  /** Each stretch for itself, in order: the database merges them and reads no more of any than is wanted. */
  merged(organizations: readonly string[], each: (conditions: string) => string): string {
    return organizations.flatMap((organization) => {
      const id = this.text(organization);
      return this.events.map((event) => `(${each(this.stretch(id, event === undefined ? undefined : this.text(event)))})`);
    }).join(' union all ');
  }

  /** What is wanted of one stretch. */
  stretch(organization: string, event?: string): string {
    const { hashed } = this.index;
    const texts: Record<string, string> = {
      organization_id: organization, ...this.fixed, ...(hashed.includes('event') ? { event: event! } : {}),
    };
    const columnHashes = hashOf(hashed.map((column) => `e.${column}`));
    const hash = hashed.length === 0 ? [] : [`${columnHashes} = ${hashOf(hashed.map((column) => texts[column]!))}`];
    // Behind a hash the texts are only compared: as conditions of another index they would have that one walked, match or not.
    const compared = hashed.length === 0 ? '' : ` || ''`;
    const columns = Object.entries(texts).map(([column, text]) => `e.${column}${compared} = ${text}`);
    return [...hash, ...columns, ...this.near(organization), ...this.bounds, ...this.conditions].join(' and ');
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

/** As the migrations' indexes have it, letter for letter: else they do not serve. */
function hashOf(texts: readonly string[]): string {
  return `hashtextextended((${texts.join(` || ' ' || `)}) collate "C", 0)`;
}

const LAST_MS = Date.parse('9999-12-31T23:59:59.999Z');

/** Within the years that an entry's time can have. */
function timeText(milliseconds: number): string {
  return new Date(Math.min(Math.max(milliseconds, 0), LAST_MS)).toISOString();
}
