import type { RunStatement } from '../../platform/auth/credentials/credential-source.js';

/** More are not counted. */
const MOST_COUNTED = 10_000;

/** What stands in a database, as far as a server looks at it before it serves. */
export interface DatabaseState {
  /** As PostgreSQL counts: 160004 for 16.4. */
  readonly version: number;
  readonly now: Date;
  /** In the order in which they ran; none where nothing was set up. */
  readonly migrations: readonly string[];
}

export async function databaseState(run: RunStatement): Promise<DatabaseState> {
  const [row] = await run(
    `select current_setting('server_version_num')::integer as version, clock_timestamp() as now,
       to_regclass('migrations') is not null as known`, []);
  const { version, now, known } = row as { version: number; now: Date; known: boolean };
  const rows = known ? await run('select name from migrations order by id', []) : [];
  return { version, now, migrations: rows.map(({ name }) => name as string) };
}

/** What the installation keeps of itself; undefined before its first start has ended. */
export interface InstallationState {
  readonly instance: string;
  readonly fingerprints: Readonly<Record<string, string>>;
  /** Why it is in maintenance mode; null where it serves. */
  readonly maintenanceBecause: string | null;
  /** Effects that were given up. */
  readonly parked: number;
}

export async function installationState(run: RunStatement): Promise<InstallationState | undefined> {
  const [row] = await run(
    `select i.name as instance, i.secret_fingerprints as fingerprints, i.held_because as "maintenanceBecause", (
       select count(*)::integer from (select from outbox where available_at = 'infinity' limit $1) counted) as parked
     from instance i`, [MOST_COUNTED]);
  return row as unknown as InstallationState | undefined;
}
