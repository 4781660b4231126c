import type { RunStatement } from '../../../../platform/auth/credentials/credential-source.js';
import type { Selection } from '../entry-selection.js';
import { IndexScan } from '../index-scan.js';
import { type Extent, newestFirst, type Statement, totalOf } from '../index-scans.query.js';

export interface Limits {
  /** Up to so many stretches are each asked for their newest entry: a microsecond or two each. */
  readonly asked: number;
  /** Of so many organizations, those with the newest entries, so many of these tell how far back a page reaches. */
  readonly sampled: { readonly organizations: number; readonly entries: number };
  /** Up to so many entries are read, wanted or not. */
  readonly read: number;
}

const LIMITS: Limits = { asked: 4_000, sampled: { organizations: 400, entries: 20 }, read: 20_000 };

/** Whether there are too many stretches to ask each: dozens of event types in each of thousands of organizations. */
export function isAmongMany(selection: Selection, organizations: readonly string[], { asked }: Limits = LIMITS): boolean {
  const walk = new IndexScan(selection);
  return walk.isAcross && selection.reader === undefined && organizations.length * walk.events.length > asked;
}

/** Whether all organizations can be counted at once: by the index alone, which has no time before the organization. */
export function isCountedAcross(selection: Selection): boolean {
  const { from, to, reader } = selection;
  return new IndexScan(selection).isAcross && from === undefined && to === undefined && reader === undefined;
}

/** How many there are in all organizations, counted up to a number: column `total`. Each kind stands together. */
export function countAcrossStatement(selection: Selection, most: number): Statement {
  const walk = new IndexScan(selection);
  const { key } = walk.index;
  const kind = walk.kind('', 't.event').join(' and ');
  return totalOf(
    `select from unnest(${walk.parameter(walk.events)}::text[]) as t(event) cross join lateral (
       select ${walk.distinct}e.organization_id, e.${key} ${walk.from} where ${kind}
       order by e.organization_id, e.${key} limit ${most}) one limit ${most}`,
    walk,
  );
}

export interface Among {
  readonly selection: Selection;
  /** All that there are. */
  readonly organizations: readonly string[];
}

interface Reading extends Among {
  readonly after: string | null;
  /** Entries that a page needs, those before it among them. */
  readonly most: number;
  readonly limits: Limits;
  /** The key with which what is wanted ends at the latest. */
  readonly down?: string;
}

export interface FoundAmongMany {
  /** Answers the keys of the page, as `pageStatement` does. */
  readonly keys: Statement;
  readonly total: number;
}

/**
 * A page and its total where there are too many stretches to ask each. What is common is found among the newest entries of all, whatever
 * they are; what is in a short time by reading that time; and what is rare stands in few stretches, which the index leads to from one
 * to the next. Each of the first two gives up after a number of entries.
 */
export async function findAmongMany(
  run: RunStatement, { selection, organizations }: Among, extent: Extent, counted: number, limits: Limits = LIMITS,
): Promise<FoundAmongMany> {
  const { after } = extent;
  const most = extent.limit + extent.offset;
  const all: Reading = { selection, organizations, after, most, limits };
  const inTime = isCountedAcross(selection) || !(await isShort(run, all)) ? undefined : await readAll(run, all);
  if (inTime?.isComplete) return { keys: keysStatement(inTime.keys.slice(extent.offset)), total: inTime.total };
  const total = inTime !== undefined && inTime.total >= counted ? inTime.total : await countStretches(run, selection, counted);
  const depth = await depthOf(run, all);
  const newest = depth === undefined ? undefined : await readAll(run, { ...all, ...depth });
  if (newest?.isComplete) return { keys: keysStatement(newest.keys.slice(extent.offset)), total };
  return { keys: newestFirst(new IndexScan(selection, after), extent, newestOfStretches), total };
}

async function countStretches(run: RunStatement, selection: Selection, most: number): Promise<number> {
  const { sql, parameters } = isCountedAcross(selection) ? countAcrossStatement(selection, most) : countWithin(selection, most);
  const [row] = await run(sql, parameters);
  return Number(row!['total']);
}

function countWithin(selection: Selection, most: number): Statement {
  const walk = new IndexScan(selection);
  const each = walk.newestKeys(walk.stretch('there.organization_id', 'there.event'), most);
  return totalOf(`select from (${stretchesThere(walk)}) there cross join lateral (${each}) one limit ${most}`, walk);
}

/** The stretches that there are: from one organization that has a kind the index leads to the next. */
function stretchesThere(walk: IndexScan): string {
  const step = (event: string, ...before: string[]) => `
    select e.organization_id ${walk.from} where ${[...walk.kind('', event), ...before].join(' and ')}
    order by e.organization_id desc limit 1`;
  return `with recursive there as (
      select t.event, first.organization_id from unnest(${walk.parameter(walk.events)}::text[]) as t(event)
      cross join lateral (${step('t.event')}) first
      union all
      select there.event, next.organization_id from there
      cross join lateral (${step('there.event', 'e.organization_id < there.organization_id')}) next)
    select there.organization_id, there.event from there`;
}

function newestOfStretches(walk: IndexScan): string {
  return `select there.organization_id, there.event, first.key from (${stretchesThere(walk)}) there
    cross join lateral (${walk.newestKeys(walk.stretch('there.organization_id', 'there.event'), 1)}) first`;
}

/** The same entries without regard to their kind, which is compared instead of looked up. */
class ByTime extends IndexScan {
  readonly fits: string;

  constructor({ events, capability, ...rest }: Selection, after: string | null, down?: string) {
    super(rest, after, down);
    this.fits = [
      ...this.conditions,
      ...(events === undefined ? [] : [`e.event = any (${this.parameter(events)}::text[])`]),
      ...(capability === undefined ? [] : [`e.capability = ${this.parameter(capability)}::text`]),
    ].join(' and ');
  }
}

/** Of so many organizations it is looked whether the asked time is short. */
const LOOKED_AT = 64;
/** One of them counts for so many times its share at most: a single busy one says nothing of the others. */
const AT_MOST = 4;

/** Whether the asked time is one that can be read whole, as far as a few organizations from all over tell. */
async function isShort(run: RunStatement, { selection, organizations, limits: { read } }: Reading): Promise<boolean> {
  const walk = new ByTime(selection, null);
  const step = Math.ceil(organizations.length / LOOKED_AT);
  const some = organizations.filter((_, i) => i % step === 0);
  const share = Math.ceil((read * some.length) / organizations.length);
  const ofOne = Math.ceil((AT_MOST * read) / organizations.length);
  const each = walk.newestKeys(walk.part('o.id'), ofOne, `, (${walk.fits}) as fits`);
  const [row] = await run(
    `select count(*)::integer as found from (
       select from unnest(${walk.parameter(some)}::text[]) as o(id) cross join lateral (${each}) one limit ${share}) counted`,
    walk.parameters,
  );
  return Number(row!['found']) < share;
}

/** A key above which there are enough for a page, and who has any there; undefined where the sample has too few. */
async function depthOf(
  run: RunStatement, { selection, organizations, after, most, limits: { sampled } }: Reading,
): Promise<{ readonly down: string; readonly organizations: readonly string[] } | undefined> {
  const walk = new ByTime(selection, after);
  const of = (place: string, limit: number) => walk.newestKeys(walk.part(place), limit, `, (${walk.fits}) as fits`);
  const [row] = await run(
    `with newest as materialized (
       select first.* from unnest(${walk.parameter(organizations)}::text[]) as o(id) cross join lateral (${of('o.id', 1)}) first),
     depth as (
       select one.key from (select * from newest order by newest.key desc limit ${sampled.organizations}) newest
       cross join lateral (${of('newest.organization_id', sampled.entries)}) one
       where one.fits order by one.key desc limit 1 offset ${most - 1})
     select depth.key, (select json_agg(newest.organization_id) from newest where newest.key >= depth.key) as organizations from depth`,
    walk.parameters,
  );
  return row && { down: row['key'] as string, organizations: row['organizations'] as string[] };
}

type Key = readonly [organizationId: string, key: string];

interface ReadAll {
  /** Of those that fit, newest first, behind the cursor. */
  readonly keys: readonly Key[];
  readonly total: number;
  /** Else there was more to read. */
  readonly isComplete: boolean;
}

/** Reads all entries of a part of the log: down to a key, or in the selection's time, which is also that of the total. */
async function readAll(run: RunStatement, { selection, organizations, after, most, limits, down }: Reading): Promise<ReadAll> {
  const walk = down === undefined ? new ByTime(selection, null) : new ByTime(selection, after, down);
  const begin = walk.parameter(after);
  const [row] = await run(
    `with read as materialized (
       select one.* from unnest(${walk.parameter(organizations)}::text[]) as o(id)
       cross join lateral (${walk.newestKeys(walk.part('o.id'), limits.read, `, (${walk.fits}) as fits`)}) one limit ${limits.read})
     select count(*)::integer as read, (count(*) filter (where fits))::integer as total, (
       select coalesce(json_agg(json_build_array(page.organization_id, page.key) order by page.key desc), '[]') from (
         select * from read where fits and (${begin}::text is null or key < ${begin}::text) order by key desc
         limit ${most}) page) as keys
     from read`,
    walk.parameters,
  );
  return { keys: row!['keys'] as Key[], total: Number(row!['total']), isComplete: Number(row!['read']) < limits.read };
}

function keysStatement(keys: readonly Key[]): Statement {
  return {
    sql: `select found.organization_id, found.key collate "C" as key from unnest($1::text[], $2::text[]) as found(organization_id, key)`,
    parameters: [keys.map(([organizationId]) => organizationId), keys.map(([, key]) => key)],
  };
}
