import type { RecordRow } from '../../domain/audit/completeness/record-row.js';
import type { Selection } from '../../domain/audit/integrity/verify-log.js';
import type { ReadStatement } from './record-keepers.js';

const BATCH = 2_000;

/** The end of a statement for {@link recordRows}: selection and order of rows of the table with this alias. */
export const pageOf = (t: string): string => `
  where (${t}.organization_id, ${t}.id) > ($1, $2) and ($4::text is null or ${t}.organization_id = $4)
    and ($5::text is null or ${t}.agent_id = $5)
  order by ${t}.organization_id, ${t}.id limit $3`;

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

/**
 * Rows in batches by key: each statement begins behind the last row of the statement before, so no cursor stays open.
 *
 * @param sql ends with {@link pageOf}: in the order of organization and id, by code point
 * @param long of a row with {@link longColumns}: {@link longColumnsOf} it
 */
export async function* recordRows<Row extends { readonly organizationId: string; readonly id: string }>(
  run: ReadStatement,
  sql: string,
  { organizationId, chain }: Selection,
  toRecord: (row: Row) => RecordRow,
  long?: string,
): AsyncGenerator<readonly RecordRow[]> {
  let after: readonly [string, string] = ['', ''];
  for (;;) {
    const rows = (await run(sql, [...after, BATCH, organizationId ?? null, chain ?? null])) as Row[];
    for await (const some of withLong(run, rows, long)) yield some.map(toRecord);
    const last = rows.at(-1);
    if (!last || rows.length < BATCH) return;
    after = [last.organizationId, last.id];
  }
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

let cursors = 0;

/**
 * The rows of a statement, in no order.
 *
 * @param sql with the organization as `$1` and the agent as `$2`, null for all of them
 * @param long of a row with {@link longColumns}: {@link longColumnsOf} it
 */
export async function* streamedRows<Row extends object>(
  run: ReadStatement, sql: string, { organizationId, chain }: Selection, long?: string,
): AsyncGenerator<readonly Row[]> {
  const cursor = `record_rows_${++cursors}`;
  await run(`declare ${cursor} no scroll cursor for ${sql}`, [organizationId ?? null, chain ?? null]);
  for (;;) {
    const rows = (await run(`fetch ${BATCH} from ${cursor}`, [])) as Row[];
    yield* withLong(run, rows, long);
    if (rows.length < BATCH) break;
  }
  await run(`close ${cursor}`, []);
}
