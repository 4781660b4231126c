import { StartRefused } from '../config/start-refused.js';

/** How the schema of a database stands to what a version knows. */
export interface SchemaComparison {
  readonly run: readonly string[];
  /** Known, and not run yet. */
  readonly missing: readonly string[];
  /** Run by a newer version. */
  readonly newer: readonly string[];
}

export function compareSchema(known: readonly string[], run: readonly string[]): SchemaComparison {
  return {
    run,
    missing: known.filter((name) => !run.includes(name)),
    newer: run.filter((name) => !known.includes(name)),
  };
}

/** The migrations that a database has had, in their order; none where it was never set up. */
export async function migrationsIn(runner: { query(sql: string): Promise<unknown> }): Promise<string[]> {
  const [there] = (await runner.query(`select to_regclass('migrations') is not null as exists`)) as [{ exists: boolean }];
  if (!there.exists) return [];
  return ((await runner.query('select name from migrations order by id')) as { name: string }[]).map(({ name }) => name);
}

/** What a newer version has made, an older one may overlook or spoil. @throws StartRefused */
export function refuseNewer({ newer }: SchemaComparison): void {
  if (newer.length === 0) return;
  throw new StartRefused(
    `DATABASE_URL: the schema is a newer version's: this one does not know ${newer.join(', ')}. `
    + 'Start the version that made it or a newer one, or go back by its `countersign migrate down`, or by a backup.',
  );
}
