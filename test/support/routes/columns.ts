import type { ColumnClass } from '../../../src/platform/audit/personal-data/personal-data-holders.js';
import type { TestDatabase } from '../servers/database.js';

/** A column of a table, a view or whatever else has rows. */
export interface Column {
  /** With its schema where that is not `public`. */
  readonly table: string;
  readonly name: string;
  readonly type: string;
  readonly canHoldText: boolean;
  /** Whether a row has to be given a value. */
  readonly needed: boolean;
  readonly inKey: boolean;
}

/** Table → column → class, as modules and the log say it. */
export type SaidColumns = Readonly<Record<string, Readonly<Record<string, ColumnClass>>>>;

/** What no text can be kept in. Any other type can hold one, types of next year too; arrays and domains are what they are made of. */
const WITHOUT_TEXT = [
  'bool', 'int2', 'int4', 'int8', 'float4', 'float8', 'numeric', 'oid', 'xid', 'xid8', 'uuid', 'date', 'time', 'timetz', 'timestamp',
  'timestamptz', 'interval',
];

/** Of every relation but PostgreSQL's own. */
export function columnsOf({ sql }: Pick<TestDatabase, 'sql'>): Promise<Column[]> {
  return sql<Column & Record<string, unknown>>(COLUMNS, [WITHOUT_TEXT]);
}

const COLUMNS = `
  with recursive there as (
    select case n.nspname when 'public' then c.relname else n.nspname || '.' || c.relname end as "table", a.*
    from pg_class c join pg_namespace n on n.oid = c.relnamespace join pg_attribute a on a.attrelid = c.oid
    where c.relkind in ('r', 'p', 'v', 'm', 'f') and n.nspname not in ('pg_catalog', 'information_schema', 'pg_toast')
      and a.attnum > 0 and not a.attisdropped
  ), made as (
    select atttypid as type, atttypid as part from there
    union
    select m.type, case t.typtype when 'd' then t.typbasetype else t.typelem end from made m join pg_type t on t.oid = m.part
    where t.typtype = 'd' or t.typcategory = 'A'
  ), without_text as (
    select m.type from made m join pg_type t on t.oid = m.part
    where t.typtype = 'e' or (t.typnamespace = 'pg_catalog'::regnamespace and t.typname = any ($1))
  )
  select "table", attname as name, format_type(atttypid, null) as type,
    not exists (select from without_text w where w.type = atttypid) as "canHoldText",
    attnotnull and not atthasdef and attidentity = '' as needed,
    exists (select from pg_index i where i.indrelid = attrelid and i.indisprimary and attnum = any (i.indkey)) as "inKey"
  from there order by "table", attnum`;

/** Columns of which nobody has said what they may hold of people, or more than one has, and what was said of columns that are not there. */
export function wronglySaid(columns: readonly Column[], said: readonly SaidColumns[]): Record<'unsaid' | 'twice' | 'absent', string[]> {
  const names = said.flatMap((tables) => Object.entries(tables))
    .flatMap(([table, named]) => Object.keys(named).map((name) => `${table}.${name}`));
  const there = columns.filter(({ canHoldText }) => canHoldText).map(({ table, name }) => `${table}.${name}`);
  return {
    unsaid: there.filter((name) => !names.includes(name)),
    twice: names.filter((name, at) => names.indexOf(name) !== at),
    absent: names.filter((name) => !there.includes(name)),
  };
}
