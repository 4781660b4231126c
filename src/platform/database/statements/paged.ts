import type { DataSource } from 'typeorm';
import { type Page, type PageRequest, pageFrom } from '../../http/fields/pagination.js';

export interface PagedSource {
  columns: string;
  from: string;
  where: string;
  parameters: unknown[];
  /** Column of the id: ids sort by the time they were made, so newest first is by id, descending. */
  id: string;
  /** Where rows are wide or joined to others: a page is found by its keys alone, and only what is on it is read whole. */
  wide?: { keys: string; join: string };
}

/** One page, newest first, and the exact total of the filter. */
export async function pageOf<Row extends { id: string }>(
  dataSource: DataSource,
  source: PagedSource,
  page: PageRequest,
): Promise<Page<Row>> {
  const { columns, from, where, parameters, id, wide } = source;
  const n = parameters.length;
  const pageWith = (list: string) => `select ${list} from ${from} where ${where} and ($${n + 1}::text is null or ${id} < $${n + 1})
    order by ${id} desc limit $${n + 2} offset $${n + 3}`;
  const rowsOf = wide ? `select ${columns} from (${pageWith(wide.keys)}) page ${wide.join} order by ${id} desc` : pageWith(columns);
  const [counted, rows] = await Promise.all([
    dataSource.query<[{ total: number }]>(`select count(*)::integer as total from ${from} where ${where}`, parameters),
    dataSource.query<Row[]>(rowsOf, [...parameters, page.after?.[0] ?? null, page.limit + 1, page.offset]),
  ]);
  return pageFrom(rows, counted[0].total, page.limit, (row) => [row.id]);
}
