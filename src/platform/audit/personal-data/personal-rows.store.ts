import { Injectable } from '@nestjs/common';
import type { ChainRef } from '../../../domain/audit/entry/chain.js';
import { textMatcher } from '../../../domain/audit/erasure/text-matcher.js';
import type { Tx } from '../../database/transaction/tx.js';
import type { ErasedSoFar, ErasureTarget } from './personal-data-holders.js';
import {
  type Changes, changesOf, matchesInOwn, matchesInPolicy, isSearched, isTheirs, ownersIn, type PersonalRow, type PersonalTable, readColumns,
  type Wanted,
} from './personal-table.js';

/** Rows of one call at most: each is searched in memory. */
const ROWS_MAX = 500;
/** Rows whose owners one statement compares. */
const LOOK = 20_000;
/** Bytes that the rows of one call may take up in the table, compressed. */
const BYTES_MAX = 4_000_000;
/** How often, and how long apart, locked heads are tried: a unit of work holds a head for milliseconds. */
const TRIES = 20;
const TRY_EVERY_MS = 25;

/** A row with something to erase. */
export interface Touched {
  readonly row: PersonalRow;
  readonly changes: Changes;
}

/** What a module does beside changing the columns of a row. */
export interface ErasureHooks {
  /** After the heads are locked, before the rows are locked and read again. */
  before?(tx: Tx, what: ErasureTarget, touched: readonly Touched[]): Promise<void>;
  /** @returns how many rows of other kinds were changed, by kind */
  after?(tx: Tx, what: ErasureTarget, changed: readonly Touched[]): Promise<Counts>;
}

export type Erasable = PersonalTable & ErasureHooks;

type Counts = Readonly<Record<string, number>>;
type Key = readonly string[];

interface Step {
  readonly counts: Counts;
  readonly rows: number;
  /** The key behind which the next call reads. */
  readonly next?: Key | undefined;
}

/** Erases from the tables that modules describe, in batches by key. Each row is read again under its lock. */
@Injectable()
export class PersonalRows {
  /** From at most `limit` rows behind `after`, as `PersonalData.erase` does. */
  async erase(tx: Tx, tables: readonly Erasable[], what: ErasureTarget, limit: number, after?: string): Promise<ErasedSoFar> {
    const wanted = wantedOf(what);
    const relevant = tables.filter((table) =>
      (what.texts.length > 0 && isSearched(table)) || (what.userId !== undefined && ownersIn(table).length > 0));
    let [name, key] = after === undefined ? [] : JSON.parse(after) as [table: string, key: Key | null];
    let counts: Counts = {};
    let left = Math.min(limit, ROWS_MAX);
    const first = name === undefined ? 0 : relevant.findIndex(({ from }) => from === name);
    for (const table of relevant.slice(Math.max(0, first))) {
      if (left <= 0) return { counts, next: JSON.stringify([table.from, null]) };
      const step = await this.step(tx, table, what, wanted, left, key ?? undefined);
      counts = added(counts, step.counts);
      if (step.next) return { counts, next: JSON.stringify([table.from, step.next]) };
      left -= step.rows;
      key = null;
    }
    return { counts };
  }

  /** Erases from rows with these keys. The caller holds the heads that the rows need. */
  async eraseOf(tx: Tx, table: PersonalTable, what: ErasureTarget, keys: readonly Key[]): Promise<Counts> {
    const { counts } = await this.change(tx, table, what, wantedOf(what), keys);
    return counts;
  }

  private async step(tx: Tx, table: Erasable, what: ErasureTarget, wanted: Wanted, limit: number, after?: Key): Promise<Step> {
    const read = await this.read(tx, table, what, limit, after);
    const touched = touchedIn(table, read.rows, wanted);
    const free = await this.withHeads(tx, table, what, touched);
    const firstBusy = touched[free.length];
    const passed = firstBusy ? read.rows.slice(0, read.rows.indexOf(firstBusy.row)) : read.rows;
    const next = firstBusy ? (passed.length > 0 ? keyOf(table, passed.at(-1)!) : (after ?? [])) : read.next;

    await table.before?.(tx, what, free);
    const { counts, changed } = await this.change(tx, table, what, wanted, free.map(({ row }) => keyOf(table, row)));
    const along = changed.length > 0 ? await table.after?.(tx, what, changed) : undefined;
    const inPolicy = passed.filter((row) => matchesInPolicy(table, row, wanted)).length;
    const inOwn = passed.filter((row) => matchesInOwn(table, row, wanted)).length;
    const sums = added(counts, along ?? {}, counted('left', table, inPolicy), counted('kept', table, inOwn));
    return { counts: sums, rows: read.rows.length, next };
  }

  /** The rows before the first one whose head stays locked by somebody else. */
  private async withHeads(
    tx: Tx, table: Erasable, { organizationId }: ErasureTarget, touched: readonly Touched[],
  ): Promise<Touched[]> {
    const heads = touched.map(({ row }) => table.head?.(organizationId, row));
    let busy: ChainRef[] = [];
    for (let tries = 0; tries < TRIES; tries++) {
      busy = await tx.lockFree(heads.flatMap((head) => head ?? []));
      if (busy.length === 0) return [...touched];
      await tx.query('select pg_sleep($1)', [TRY_EVERY_MS / 1000]);
    }
    const firstBusy = heads.findIndex((head) => head && busy.some(({ chain }) => chain === head.chain));
    return touched.slice(0, firstBusy);
  }

  /** Reads each row again under its lock: somebody may have changed the row since the first read. */
  private async change(
    tx: Tx, table: PersonalTable, what: ErasureTarget, wanted: Wanted, keys: readonly Key[],
  ): Promise<{ counts: Counts; changed: Touched[] }> {
    if (keys.length === 0) return { counts: {}, changed: [] };
    const names = Object.keys(table.key);
    const rows = await tx.query<PersonalRow>(
      `select ${selected(table)} from ${table.from} t
       where ${within(table)} and (${columnsOf(names)}) in (select * from ${unnested(table)})
       order by ${columnsOf(names)} for update of t`,
      [what.organizationId, ...names.map((_, i) => keys.map((key) => key[i]))],
    );
    const touched = touchedIn(table, rows, wanted).map((one) => ({ ...one, erasability: table.erasability?.(one.row) }));
    const changed = touched.filter(({ erasability }) => erasability === undefined);
    await this.write(tx, table, what, changed);
    await this.end(tx, table, what, changed.filter(({ row }) => isOwn(table, row, wanted)));
    if (table.changesFacts && table.head) await tx.raiseHeads(changed.flatMap(({ row }) => table.head!(what.organizationId, row) ?? []));
    const left = touched.filter(({ erasability }) => erasability === 'later').length;
    return { counts: added({ [table.kind]: changed.length }, counted('left', table, left)), changed };
  }

  private async write(tx: Tx, table: PersonalTable, { organizationId }: ErasureTarget, changed: readonly Touched[]): Promise<void> {
    if (changed.length === 0) return;
    const written = readColumns(table);
    const types = [...Object.entries(table.key), ...written.map(([name, { form }]) => [name, TYPES[form!]] as const)];
    const keys = Object.keys(table.key);
    // One statement for a table, whichever columns change, so that the statement stays prepared.
    const sets = written.map(([name]) => `${name} = case when '${name}' = any (n.changed) then n.${name} else t.${name} end`);
    await tx.query(
      `update ${table.from} t set ${sets.join(', ')}
       from json_to_recordset($2) as n(changed text[], ${types.map(([name, type]) => `${name} ${type}`).join(', ')})
       where ${within(table)} and ${keys.map((name) => `t.${name} = n.${name}`).join(' and ')}`,
      [
        organizationId,
        JSON.stringify(changed.map(({ row, changes }) => ({
          changed: Object.keys(changes), ...Object.fromEntries(keys.map((name) => [name, row[name]])), ...changes,
        }))),
      ],
    );
  }

  private async end(tx: Tx, table: PersonalTable, { organizationId }: ErasureTarget, own: readonly Touched[]): Promise<void> {
    if (table.ends === undefined || own.length === 0) return;
    const names = Object.keys(table.key);
    await tx.query(
      `update ${table.from} t set ${table.ends}
       where ${within(table)} and (${columnsOf(names)}) in (select * from ${unnested(table)})`,
      [organizationId, ...names.map((name) => own.map(({ row }) => row[name]))],
    );
  }

  /**
   * Rows up to the limits of number and bytes, and at least one. Without texts nothing is searched: then only rows of the person are
   * read, of as many rows as one statement may look at.
   */
  private async read(
    tx: Tx, table: PersonalTable, { organizationId, userId, texts }: ErasureTarget, limit: number, after: Key = [],
  ): Promise<{ rows: PersonalRow[]; next?: Key }> {
    const keys = columnsOf(Object.keys(table.key));
    const sizes = readColumns(table).map(([name]) => `coalesce(pg_column_size(t.${name}), 0)`).join(' + ');
    const order = `(order by ${keys} rows unbounded preceding)`;
    const parameters: unknown[] = [organizationId, limit, texts.length > 0 ? limit : LOOK, ...after];
    const behind = after.length > 0 ? `and ${isBehind(table, 4)}` : '';
    let wanted = `so_far < ${BYTES_MAX}`;
    if (texts.length === 0) {
      parameters.push(userId);
      wanted = ownersIn(table).map((owner) => `${owner} = $${parameters.length}`).join(' or ') + ' or n = $3';
    }
    const found = await tx.query<PersonalRow>(
      `select ${outputs(table).join(', ')}, n::integer from (
         select ${selected(table)}, sum(${sizes}) over ${order} as so_far, row_number() over ${order} as n
         from ${table.from} t where ${within(table)} ${behind} order by ${keys} limit $3) t
       where n = 1 or ${wanted} order by n limit $2`,
      parameters,
    );
    const last = found.at(-1);
    if (!last) return { rows: found };
    const next = keyOf(table, last);
    const isCut = async () => (texts.length > 0 ? this.isMore(tx, table, organizationId, next) : last['n'] === LOOK);
    return { rows: found, ...(found.length === limit || (await isCut()) ? { next } : {}) };
  }

  /** A batch with few rows may have ended at the limit of bytes. */
  private async isMore(tx: Tx, table: PersonalTable, organizationId: string, after: Key): Promise<boolean> {
    const rows = await tx.query(
      `select 1 as one from ${table.from} t where ${within(table)} and ${isBehind(table, 2)} limit 1`, [organizationId, ...after],
    );
    return rows.length > 0;
  }
}

const TYPES = { text: 'text', canonical: 'text', json: 'json', list: 'text[]' } as const;

function wantedOf({ userId, texts }: ErasureTarget): Wanted {
  return { matches: textMatcher(texts), ...(userId === undefined ? {} : { userId }) };
}

function touchedIn(table: PersonalTable, rows: readonly PersonalRow[], wanted: Wanted): Touched[] {
  return rows.map((row) => ({ row, changes: changesOf(table, row, wanted) })).filter(({ changes }) => Object.keys(changes).length > 0);
}

function keyOf({ key }: PersonalTable, row: PersonalRow): Key {
  return Object.keys(key).map((name) => String(row[name]));
}

function within({ scopeSql = 't.organization_id = $1' }: PersonalTable): string {
  return scopeSql;
}

function columnsOf(names: readonly string[]): string {
  return names.map((name) => `t.${name}`).join(', ');
}

/** SQL for keys after the one whose parts are the parameters from `first` on. */
function isBehind({ key }: PersonalTable, first: number): string {
  const values = Object.values(key).map((type, i) => `$${first + i}::text::${type}`);
  return `(${columnsOf(Object.keys(key))}) > (${values.join(', ')})`;
}

function unnested({ key }: PersonalTable): string {
  return `unnest(${Object.values(key).map((type, i) => `$${i + 2}::${type}[]`).join(', ')})`;
}

/** Each name once: keys, columns that are read, owners, and extra columns. */
function outputs(table: PersonalTable): string[] {
  const read = readColumns(table).map(([name]) => name);
  return [...new Set([...Object.keys(table.key), ...read, ...ownersIn(table), ...Object.keys(table.extraColumns ?? {})])];
}

function selected(table: PersonalTable): string {
  return outputs(table).map((name) => `${table.extraColumns?.[name] ?? `t.${name}`} as ${name}`).join(', ');
}

function isOwn(table: PersonalTable, row: PersonalRow, wanted: Wanted): boolean {
  return Object.values(table.columns).some((column) => isTheirs(column, row, wanted));
}

function counted(what: 'left' | 'kept', { kind }: PersonalTable, count: number): Counts {
  return { [`${what}${kind.charAt(0).toUpperCase()}${kind.slice(1)}`]: count };
}

/** The sums without zeros. */
function added(...all: readonly Counts[]): Counts {
  const sums: Record<string, number> = {};
  for (const [kind, count] of all.flatMap((counts) => Object.entries(counts))) if (count > 0) sums[kind] = (sums[kind] ?? 0) + count;
  return sums;
}
