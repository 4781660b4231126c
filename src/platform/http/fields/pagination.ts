import { Integer, Text } from './fields.js';
import { Problem } from '../reply/problem.js';

/** How a list is asked for. Without a limit the route's own default holds. */
export class PageQuery {
  @Integer({ min: 1, max: 500, optional: true, doc: 'How many entries to return.', example: 50 })
  limit?: number;

  @Integer({ min: 0, max: 10_000, optional: true, doc: 'How many entries to skip. Beyond that, follow `nextCursor`.' })
  offset?: number;

  @Text({ min: 1, max: 500, optional: true, doc: 'The `nextCursor` of the page before. Together with `offset` it is refused with 400.' })
  cursor?: string;
}

/** A page as the queries read it. */
export interface PageRequest {
  limit: number;
  offset: number;
  /** The sort key of the last row of the page before. */
  after?: CursorKey;
}

export type CursorKey = readonly string[];

export interface Page<Row> {
  rows: Row[];
  /** Of all pages. */
  total: number;
  nextCursor?: string;
}

const FORM = /^[A-Za-z0-9_-]+$/;

/** The sort key of a page's last row as an opaque text. It holds no secret and is not signed: scopes narrow every page. */
export function encodeCursor(key: CursorKey): string {
  return Buffer.from(JSON.stringify(key)).toString('base64url');
}

/**
 * @param parts how many texts the key has
 * @throws Problem 400 for what we did not make
 */
export function decodeCursor(cursor: string, parts = 1): CursorKey {
  const key = FORM.test(cursor) ? textsIn(Buffer.from(cursor, 'base64url').toString('utf8')) : undefined;
  if (key === undefined || key.length !== parts || encodeCursor(key) !== cursor) {
    throw new Problem('VALIDATION_FAILED', '?cursor must be the nextCursor of a page of this list.', {
      errors: [{ pointer: '?cursor', message: 'must be the nextCursor of a page of this list' }],
    });
  }
  return key;
}

function textsIn(json: string): string[] | undefined {
  try {
    const value: unknown = JSON.parse(json);
    if (!Array.isArray(value)) return undefined;
    return value.every((part): part is string => typeof part === 'string' && !part.includes('\0')) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** @throws Problem 400 when a cursor is not ours, or stands beside an offset */
export function pageRequest(query: PageQuery, defaultLimit: number, parts = 1): PageRequest {
  const { limit = defaultLimit, offset = 0, cursor } = query;
  if (cursor === undefined) return { limit, offset };
  if (offset > 0) {
    throw new Problem('VALIDATION_FAILED', 'Give ?cursor or ?offset, not both.', {
      errors: [{ pointer: '?offset', message: 'must be left out where a cursor is given' }],
    });
  }
  return { limit, offset: 0, after: decodeCursor(cursor, parts) };
}

/** Cuts rows that were read with `limit + 1` to a page, and makes the cursor of the next one where there is one. */
export function pageFrom<Row>(rows: Row[], total: number, limit: number, keyOf: (row: Row) => CursorKey): Page<Row> {
  if (rows.length <= limit) return { rows, total };
  const page = rows.slice(0, limit);
  return { rows: page, total, nextCursor: encodeCursor(keyOf(page[limit - 1]!)) };
}

/** Whatever runs a statement: a DataSource, an EntityManager, a QueryRunner. */
export interface RunsSql {
  query(sql: string, parameters: unknown[]): Promise<unknown>;
}

/** A list by id, newest first: `columns` must yield the id as `id`. SQL fragments are the code's own, never a caller's. */
export interface ListByIdSql {
  columns: string;
  from: string;
  where: string;
  parameters: readonly unknown[];
  /** The id's column, for instance `a.id`. Its collation must be "C", by which ids sort as they were made. */
  id: string;
}

/** Reads one page and the exact total in one statement, so that both speak of the same moment. */
export async function pageOf<Row extends { id: string }>(
  database: RunsSql,
  list: ListByIdSql,
  page: PageRequest,
): Promise<Page<Row>> {
  const first = list.parameters.length + 1;
  const sql = `select (select count(*) from ${list.from} where ${list.where})::int as total, rows.*
    from (select 1) as one left join lateral (
      select ${list.columns} from ${list.from}
      where ${list.where} and ($${first}::text is null or ${list.id} < $${first} collate "C")
      order by ${list.id} desc limit $${first + 1} offset $${first + 2}
    ) as rows on true`;
  const parameters = [...list.parameters, page.after?.[0] ?? null, page.limit + 1, page.offset];
  const found = (await database.query(sql, parameters)) as (Row & { total: number })[];
  const rows = found.filter((row) => row.id !== null).map(({ total: _, ...row }) => row as unknown as Row);
  return pageFrom(rows, found[0]?.total ?? 0, page.limit, (row) => [row.id]);
}
