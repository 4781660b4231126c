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

/** A column that can hold text. A column that is neither searched nor somebody's own has a class alone. */
export interface PersonalColumn {
  readonly class: ColumnClass;
  readonly form?: Form;
  /** Of JSON: erases from the parts that people wrote. Without this function people may have written all of the JSON. */
  readonly part?: Part;
  /** The column, or one of `extraColumns`, with the id of the person who owns the value. */
  readonly owner?: string;
  /** The owner owns this member of a JSON object alone. */
  readonly member?: string;
  /** What the owner's value becomes; otherwise `[erased]`. */
  readonly replacement?: null;
  /** The value stays, since its owner may have the same name as an erased person. The erasure counts the row as kept. */
  readonly reportOnly?: true;
  /** The column is erased with any of these columns. */
  readonly goesWith?: readonly string[];
}

export type Columns = Readonly<Record<string, PersonalColumn>>;

export interface PersonalRow {
  readonly [column: string]: unknown;
}

/** New values by the names of their columns. */
export type Changes = Readonly<Record<string, unknown>>;

/** A table with personal data, and how to erase from its rows. */
export interface PersonalTable {
  /** The word for a row in the counts. */
  readonly kind: string;
  readonly from: string;
  /** SQL that selects the rows of the organization `$1` from the table `t`. Without that SQL, `organization_id` selects them. */
  readonly scopeSql?: string;
  /** Columns of the primary key besides the organization, in their order, with their types. */
  readonly key: Readonly<Record<string, 'text' | 'integer' | 'bigint'>>;
  readonly columns: Columns;
  /** SQL of further values that are read with a row, by name. */
  readonly extraColumns?: Readonly<Record<string, string>>;
  /** The head whose lock a change of the row needs. */
  readonly head?: (organizationId: string, row: PersonalRow) => ChainRef | undefined;
  /** Decisions rest on the rows: after a change, decisions in flight are taken again. */
  readonly changesFacts?: true;
  /**
   * Asked under the lock of the row. `later`: the row cannot be changed yet, so the erasure has not ended. `elsewhere`: the erasure from
   * another table changes the row.
   */
  readonly erasability?: (row: PersonalRow) => 'later' | 'elsewhere' | undefined;
  /** Whether the policy in the row is in force. Other policy may be erased from. */
  readonly inForce?: (row: PersonalRow) => boolean;
  /** SQL assignments that end a row of the erased person's own. */
  readonly ends?: string;
}

export const code: PersonalColumn = { class: 'code' };
export const id: PersonalColumn = { class: 'id' };
export const digest: PersonalColumn = { class: 'digest' };
export const secret: PersonalColumn = { class: 'secret' };
/** Text that anybody may have written: searched. */
export const free = (form: Form = 'text', more: Partial<PersonalColumn> = {}): PersonalColumn => ({ class: 'free', form, ...more });
/** JSON of the server's: the parts that people wrote are searched. */
export const partly = (part: Part, form: 'json' | 'canonical' = 'json', more: Partial<PersonalColumn> = {}): PersonalColumn =>
  ({ class: 'partly', form, part, ...more });
/** A value of the person in `owner`: searched only where the column is `reportOnly`. */
export const personal = (owner: string, more: Partial<PersonalColumn> = {}): PersonalColumn =>
  ({ class: 'personal', form: 'text', owner, ...more });
/** Policy is searched and never rewritten: a match is reported as left until somebody has changed the policy. */
export const policy = (form: Form = 'json'): PersonalColumn => ({ class: 'policy', form });

/** Table → column → class. */
export function classesOf(tables: readonly { from: string; columns: Columns }[]): Record<string, Record<string, ColumnClass>> {
  return Object.fromEntries(tables.map(({ from, columns }) =>
    [from, Object.fromEntries(Object.entries(columns).map(([name, column]) => [name, column.class]))]));
}

/** Columns whose values are read: those with a form. */
export function readColumns({ columns }: PersonalTable): [string, PersonalColumn][] {
  return Object.entries(columns).filter(([, { form }]) => form !== undefined);
}

/** Columns with the ids of owners. */
export function ownersIn(table: PersonalTable): string[] {
  return [...new Set(Object.values(table.columns).flatMap(({ owner }) => (owner === undefined ? [] : [owner])))];
}

const SEARCHED: readonly ColumnClass[] = ['free', 'partly', 'policy'];

export function isSearched({ columns }: PersonalTable): boolean {
  return Object.values(columns).some((column) => SEARCHED.includes(column.class) || column.reportOnly);
}

export interface Wanted {
  readonly userId?: string;
  readonly matches: TextMatcher;
}

/** The values of a row that change; none where nothing is to be erased any more. */
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

/** Whether the row has policy in force that holds one of the texts. */
export function matchesInPolicy(table: PersonalTable, row: PersonalRow, { matches }: Wanted): boolean {
  return isInForce(table, row) && matchesIn(table, row, matches, (column) => column.class === 'policy');
}

/** Whether somebody's own value holds one of the texts, in an erasure of texts without a person. */
export function matchesInOwn(table: PersonalTable, row: PersonalRow, { userId, matches }: Wanted): boolean {
  return userId === undefined && matchesIn(table, row, matches, (column) => column.reportOnly === true);
}

function matchesIn(table: PersonalTable, row: PersonalRow, matches: TextMatcher, isMeant: (column: PersonalColumn) => boolean): boolean {
  return readColumns(table).some(([name, column]) =>
    isMeant(column) && row[name] !== null && searched(column, row[name], matches) !== row[name]);
}

function isInForce({ inForce }: PersonalTable, row: PersonalRow): boolean {
  return inForce?.(row) ?? true;
}

export function isTheirs({ owner }: PersonalColumn, row: PersonalRow, { userId }: Wanted): boolean {
  return owner !== undefined && userId !== undefined && row[owner] === userId;
}

function erased(column: PersonalColumn, value: unknown, row: PersonalRow, wanted: Wanted): unknown {
  if (isTheirs(column, row, wanted)) return theirs(column, value);
  return column.class === 'personal' ? value : searched(column, value, wanted.matches);
}

function theirs({ member, replacement }: PersonalColumn, value: unknown): unknown {
  if (member === undefined) return replacement === undefined ? ERASED : replacement;
  if (!isJsonObject(value) || !(member in value) || value[member] === ERASED) return value;
  return { ...value, [member]: ERASED };
}

/** The same value where nothing in the value holds a text. */
function searched({ form, part = words }: PersonalColumn, value: unknown, matches: TextMatcher): unknown {
  switch (form) {
    case 'canonical':
      return searchedJson(value as string, part, matches);
    case 'json':
      return part(value as JsonValue, matches);
    case 'list':
      return eraseList(value as string[], matches);
    default:
      return eraseText(value as string, matches);
  }
}

/** A text that is no JSON, which only tampering brings about, is searched as words, so that the erasure can end. */
function searchedJson(text: string, part: Part, matches: TextMatcher): string {
  const parsed = readJson(text);
  if (parsed === undefined) return matches(text) ? jcs(ERASED) : text;
  const after = part(parsed, matches);
  return after === parsed ? text : jcs(after);
}
