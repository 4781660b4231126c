import type { ChainRef } from '../../../domain/audit/entry/chain.js';
import { type Part, words } from '../../../domain/audit/erasure/erase-json-parts.js';
import { eraseList, eraseText } from '../../../domain/audit/erasure/erase-texts.js';
import { jcs } from '../../../domain/audit/entry/jcs.js';
import { ERASED } from '../../../domain/audit/entry/read-entry.js';
import type { TextMatcher } from '../../../domain/audit/erasure/text-matcher.js';
import { isJsonObject, type JsonValue, readJson } from '../../../domain/json.js';
import type { ColumnClass } from './personal-data-holders.js';

/** How a column holds what people wrote. `canonical`: the RFC 8785 text of a JSON value; `list`: an array of texts. */
export type Form = 'text' | 'canonical' | 'json' | 'list';

/** A column that can hold text. What is neither searched nor anybody's has a class alone. */
export interface PersonalColumn {
  readonly class: ColumnClass;
  readonly form?: Form;
  /** Of JSON: erases from what of it people wrote. Without it, all of it is such. */
  readonly part?: Part;
  /** Names what holds the id of whoever the value is of: a column, or one of `also`. */
  readonly owner?: string;
  /** Of a JSON object, only this member is of its owner. */
  readonly member?: string;
  /** What is left of its owner's value; otherwise `[erased]`. */
  readonly becomes?: null;
  /** Stays where a text goes, for it is its owner's, who may have an erased person's name; but whoever orders that it goes is told. */
  readonly told?: true;
  /** Goes where one of these columns is changed. */
  readonly goesWith?: readonly string[];
}

export type Columns = Readonly<Record<string, PersonalColumn>>;

export interface PersonalRow {
  readonly [column: string]: unknown;
}

/** A column's new values, by name. */
export type Changes = Readonly<Record<string, unknown>>;

/** A table that holds something of people, and what has to be known to erase from it. */
export interface PersonalTable {
  /** Its rows' word in the counts. */
  readonly kind: string;
  readonly from: string;
  /** Which of its rows are of the organization `$1`; the table is `t`. Without it, by its `organization_id`. */
  readonly of?: string;
  /** What its primary key has besides the organization, in its order, and of which type. */
  readonly key: Readonly<Record<string, 'text' | 'integer' | 'bigint'>>;
  readonly columns: Columns;
  /** SQL of what else is asked of a row, by name. */
  readonly also?: Readonly<Record<string, string>>;
  /** The head under whose lock alone such a row is changed. */
  readonly head?: (organizationId: string, row: PersonalRow) => ChainRef | undefined;
  /** What agents are decided by: decisions in flight are taken again. */
  readonly changesFacts?: true;
  /**
   * Asked under the row's lock. `left`: it cannot be changed yet, so erasing has not ended. `elsewhere`: whoever erases from another
   * table changes it.
   */
  readonly stands?: (row: PersonalRow) => 'left' | 'elsewhere' | undefined;
  /** Whether the row's policy is in force; what is not may be erased from. */
  readonly inForce?: (row: PersonalRow) => boolean;
  /** Assignments that end what is the erased person's own. */
  readonly ends?: string;
}

export const code: PersonalColumn = { class: 'code' };
export const id: PersonalColumn = { class: 'id' };
export const digest: PersonalColumn = { class: 'digest' };
export const secret: PersonalColumn = { class: 'secret' };
/** Whatever somebody wrote: searched. */
export const free = (form: Form = 'text', more: Partial<PersonalColumn> = {}): PersonalColumn => ({ class: 'free', form, ...more });
/** JSON of the server's with what somebody wrote in it: that alone is searched. */
export const partly = (part: Part, form: 'json' | 'canonical' = 'json', more: Partial<PersonalColumn> = {}): PersonalColumn =>
  ({ class: 'partly', form, part, ...more });
/** Of the person whom `owner` names: not searched, unless to tell of it. */
export const personal = (owner: string, more: Partial<PersonalColumn> = {}): PersonalColumn =>
  ({ class: 'personal', form: 'text', owner, ...more });
/** Searched, but what decides is never rewritten silently: it is reported as left until somebody has changed it. */
export const policy = (form: Form = 'json'): PersonalColumn => ({ class: 'policy', form });

/** Table → column → class, as the port wants it. */
export function classesOf(tables: readonly { from: string; columns: Columns }[]): Record<string, Record<string, ColumnClass>> {
  return Object.fromEntries(tables.map(({ from, columns }) =>
    [from, Object.fromEntries(Object.entries(columns).map(([name, column]) => [name, column.class]))]));
}

/** Columns of which a value is read: those with a form. */
export function readColumns({ columns }: PersonalTable): [string, PersonalColumn][] {
  return Object.entries(columns).filter(([, { form }]) => form !== undefined);
}

/** What names the owners of a table's values. */
export function ownersIn(table: PersonalTable): string[] {
  return [...new Set(Object.values(table.columns).flatMap(({ owner }) => (owner === undefined ? [] : [owner])))];
}

const SEARCHED: readonly ColumnClass[] = ['free', 'partly', 'policy'];

export function isSearched({ columns }: PersonalTable): boolean {
  return Object.values(columns).some((column) => SEARCHED.includes(column.class) || column.told);
}

export interface Wanted {
  readonly userId?: string;
  readonly holds: TextMatcher;
}

/** What is to be changed of a row; nothing where it holds nothing, or nothing any more. */
export function changesOf(table: PersonalTable, row: PersonalRow, wanted: Wanted): Changes {
  const changes: Record<string, unknown> = {};
  for (const [name, column] of readColumns(table)) {
    const before = row[name];
    if (before === null || before === undefined || column.goesWith || (column.class === 'policy' && isInForce(table, row))) continue;
    const after = erased(column, before, row, wanted);
    if (after !== before) changes[name] = after;
  }
  for (const [name, { goesWith }] of readColumns(table)) {
    if (goesWith?.some((other) => other in changes) && row[name] !== ERASED) changes[name] = ERASED;
  }
  return changes;
}

/** Whether a row's policy holds one of the texts, and is in force. */
export function matchesInPolicy(table: PersonalTable, row: PersonalRow, { holds }: Wanted): boolean {
  return isInForce(table, row) && holdsIn(table, row, holds, (column) => column.class === 'policy');
}

/** Whether what is somebody's own in a row holds one of the texts, of which no person was named whose own they are. */
export function matchesInOwn(table: PersonalTable, row: PersonalRow, { userId, holds }: Wanted): boolean {
  return userId === undefined && holdsIn(table, row, holds, (column) => column.told === true);
}

function holdsIn(table: PersonalTable, row: PersonalRow, holds: TextMatcher, isMeant: (column: PersonalColumn) => boolean): boolean {
  return readColumns(table).some(([name, column]) =>
    isMeant(column) && row[name] !== null && searched(column, row[name], holds) !== row[name]);
}

function isInForce({ inForce }: PersonalTable, row: PersonalRow): boolean {
  return inForce?.(row) ?? true;
}

export function isTheirs({ owner }: PersonalColumn, row: PersonalRow, { userId }: Wanted): boolean {
  return owner !== undefined && userId !== undefined && row[owner] === userId;
}

function erased(column: PersonalColumn, value: unknown, row: PersonalRow, wanted: Wanted): unknown {
  if (isTheirs(column, row, wanted)) return theirs(column, value);
  return column.class === 'personal' ? value : searched(column, value, wanted.holds);
}

function theirs({ member, becomes }: PersonalColumn, value: unknown): unknown {
  if (member === undefined) return becomes === undefined ? ERASED : becomes;
  if (!isJsonObject(value) || !(member in value) || value[member] === ERASED) return value;
  return { ...value, [member]: ERASED };
}

/** The very same value where none of it holds a text. */
function searched({ form, part = words }: PersonalColumn, value: unknown, holds: TextMatcher): unknown {
  switch (form) {
    case 'canonical':
      return searchedJson(value as string, part, holds);
    case 'json':
      return part(value as JsonValue, holds);
    case 'list':
      return eraseList(value as string[], holds);
    default:
      return eraseText(value as string, holds);
  }
}

/** What is no JSON, which only tampering brings about, is searched as words: it keeps no erasure from its end. */
function searchedJson(text: string, part: Part, holds: TextMatcher): string {
  const parsed = readJson(text);
  if (parsed === undefined) return holds(text) ? jcs(ERASED) : text;
  const after = part(parsed, holds);
  return after === parsed ? text : jcs(after);
}
