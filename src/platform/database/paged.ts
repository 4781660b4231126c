import type { DataSource } from 'typeorm';
import { type Page, type PageRequest, pageFrom } from '../http/pagination.js';

export interface PagedSource {
  /** Common table expressions, from the word `with` on. */
  with?: string;
  columns: string;
  from: string;
  where: string;
  parameters: unknown[];
  /** Column of the id: ids sort by the time they were made, so newest first is by id, descending. */
  id: string;
}

/** One page, newest first, and the exact total of the filter. */
export async function pageOf<Row extends { id: string }>(
  dataSource: DataSource,
  source: PagedSource,
  page: PageRequest,
): Promise<Page<Row>> {
  const { with: expressions = '', columns, from, where, parameters, id } = source;
  const n = parameters.length;
  const [counted, rows] = await Promise.all([
    dataSource.query(
      `${expressions} select count(*)::integer as total from ${from} where ${where}`, parameters,
    ) as Promise<[{ total: number }]>,
    dataSource.query(
      `${expressions} select ${columns} from ${from} where ${where} and ($${n + 1}::text is null or ${id} < $${n + 1})
       order by ${id} desc limit $${n + 2} offset $${n + 3}`,
      [...parameters, page.after?.[0] ?? null, page.limit + 1, page.offset],
    ) as Promise<Row[]>,
  ]);
  return pageFrom(rows, counted[0].total, page.limit, (row) => [row.id]);
}
