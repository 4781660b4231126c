import type { RecordRow } from '../../domain/audit/completeness/record-row.js';
import type { Selection } from '../../domain/audit/integrity/verify-log.js';
import { readByCursor } from '../database/statements/read-by-cursor.js';
import type { ReadStatement } from './record-keepers.js';

/** The end of a statement for {@link recordRows}: which rows of the table with this alias, and their order, by code point. */
export const inOrder = (t: string): string => `
  where ($1::text is null or ${t}.organization_id = $1) and ($2::text is null or ${t}.agent_id = $2)
  order by ${t}.organization_id, ${t}.id`;

type OwnColumns = Omit<RecordRow, 'members' | 'texts'>;

/** A row with more bytes of text than this is read alone, so that no batch takes much memory. */
const LARGE = 16 * 1024;

/** Columns that may be long, by the names that they have in a record. */
export type LongColumns = Readonly<Record<string, string>>;

/** Long columns in a statement for {@link recordRows}; {@link measured} stands there behind the table. */
export const longColumns = (columns: LongColumns): string =>
  Object.entries(columns).map(([name, sql]) => `case when long."isLarge" then null else ${sql} end as "${name}"`).join(', ');

export const measured = (columns: LongColumns): string => {
  const sizes = Object.values(columns).map((sql) => `coalesce(octet_length(${sql}::text), 0)`);
  return `cross join lateral (select ${sizes.join(' + ')} > ${LARGE} as "isLarge") long`;
};

/** The long columns of one row. */
export const longColumnsOf = (table: string, t: string, columns: LongColumns): string =>
  `select ${Object.entries(columns).map(([name, sql]) => `${sql} as "${name}"`).join(', ')}
   from ${table} ${t} where ${t}.organization_id = $1 and ${t}.id = $2`;

/** A record whose members are all columns beside those that each record has. */
export function recordOf<Row extends OwnColumns & RecordRow['members']>(row: Row): RecordRow {
  const { organizationId, id, agentId, capability, status, ...members } = row;
  return { organizationId, id, agentId, capability, status, members };
}

/** The rows of a statement that ends with {@link inOrder}, as records: otherwise as {@link streamedRows}. */
export async function* recordRows<Row extends object>(
  run: ReadStatement, sql: string, selection: Selection, toRecord: (row: Row) => RecordRow, long?: string,
): AsyncGenerator<readonly RecordRow[]> {
  for await (const rows of streamedRows<Row>(run, sql, selection, long)) yield rows.map(toRecord);
}

/** The rows with their long columns, in pieces of which none takes much memory. */
async function* withLong<Row extends object>(run: ReadStatement, rows: readonly Row[], long: string | undefined): AsyncGenerator<Row[]> {
  const [large, others] = [rows.filter(isLarge), rows.filter((row) => !isLarge(row))];
  if (others.length > 0) yield others;
  for (const row of large) {
    const { organizationId, id } = row as unknown as Record<'organizationId' | 'id', string>;
    yield [{ ...row, ...((await run(long!, [organizationId, id]))[0] as object) }];
  }
}

function isLarge(row: object): boolean {
  return 'isLarge' in row && row.isLarge === true;
}

/**
 * The rows of a statement, in batches.
 *
 * @param sql with the organization as `$1` and the agent as `$2`, null for all of them
 * @param long of a row with {@link longColumns}: {@link longColumnsOf} it
 */
export async function* streamedRows<Row extends object>(
  run: ReadStatement, sql: string, { organizationId, chain }: Selection, long?: string,
): AsyncGenerator<readonly Row[]> {
  const batches = readByCursor<Row>(run, sql, [organizationId ?? null, chain ?? null]);
  for await (const rows of batches) yield* withLong(run, rows, long);
}
