/**
 * Why: PostgreSQL samples a growing table again and again to know its columns, on a core that others want. For the log, half of
 * that time went into texts by which nothing is ever planned: the statements here keep no statistics of such columns.
 */
export function withoutStatistics(table: string, columns: readonly string[]): string[] {
  return columns.map((column) => `alter table ${table} alter column ${column} set statistics 0`);
}
