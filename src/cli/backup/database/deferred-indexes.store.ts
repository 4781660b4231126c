import type { RunStatement } from '../../../platform/auth/credentials/credential-source.js';

/**
 * Takes the indexes of these tables away, and gives what makes them again: over rows that are all there an index is built several times as
 * fast as row by row. Those stay that a foreign key rests on.
 */
export async function withoutIndexes(run: RunStatement, tables: readonly string[]): Promise<() => Promise<void>> {
  const found = await run(
    `select i.indrelid::regclass::text as "table", c.relname::text as name, pg_get_indexdef(i.indexrelid) as index,
       k.conname::text as "constraint", pg_get_constraintdef(k.oid) as definition
     from pg_index i join pg_class c on c.oid = i.indexrelid join pg_class t on t.oid = i.indrelid
     left join pg_constraint k on k.conindid = i.indexrelid and k.contype in ('p', 'u', 'x')
     where t.relnamespace = current_schema()::regnamespace and t.relname = any($1)
       and not exists (select from pg_constraint f where f.contype = 'f' and f.conindid = i.indexrelid)
     order by t.relname, c.relname`, [tables]);
  const made: string[] = [];
  for (const { table, name, index, constraint, definition } of found as Readonly<Record<string, string | null>>[]) {
    await run(constraint === null ? `drop index "${name}"` : `alter table ${table} drop constraint "${constraint}"`, []);
    made.push(constraint === null ? index! : `alter table ${table} add constraint "${constraint}" ${definition}`);
  }
  return async () => {
    // Per index; the default suits a server that makes many at once.
    await run(`set local maintenance_work_mem = '256MB'`, []);
    for (const statement of made) await run(statement, []);
  };
}
