/** Runs one statement of a transaction that stands still (repeatable read): TypeORM's runner, or a plain client. */
export type RunsSql = (sql: string, parameters: readonly unknown[]) => Promise<unknown[]>;

const BATCH = 2_000;

let cursors = 0;

/** Reads by a server-side cursor: memory stays the same however much there is. */
export async function* streamed<Row>(run: RunsSql, sql: string, parameters: readonly unknown[]): AsyncGenerator<Row[], void, void> {
  const cursor = `audit_reading_${++cursors}`;
  await run(`declare ${cursor} no scroll cursor for ${sql}`, parameters);
  for (;;) {
    const rows = (await run(`fetch ${BATCH} from ${cursor}`, [])) as Row[];
    if (rows.length > 0) yield rows;
    if (rows.length < BATCH) break;
  }
  await run(`close ${cursor}`, []);
}
