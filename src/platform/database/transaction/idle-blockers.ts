import type { DataSource, QueryRunner } from 'typeorm';

const LOOK_EVERY_MS = 300;
/** A live transaction of ours is never idle for so long, since it waits for nothing but the database. */
export const SILENT_MS = 1_000;
/** Behind an idle transaction others of the same frozen server wait: each gets the lock after the one before, and keeps it. */
const SILENT_TOO_MS = 250;

// The backends that a backend waits for, those that these wait for, and so on; of them, ours that idle in an open transaction.
const END_SILENT = `
  with recursive ahead(pid) as (
    select unnest(pg_blocking_pids($1)) union select unnest(pg_blocking_pids(a.pid)) from ahead a)
  select pg_terminate_backend(s.pid) from ahead join pg_stat_activity s on s.pid = ahead.pid
  where s.datname = current_database() and s.usename = current_user and s.application_name = current_setting('application_name')
    and s.state like 'idle in transaction%' and s.state_change < clock_timestamp() - make_interval(secs => $2 / 1000.0)`;

/**
 * Waits for a lock and meanwhile ends the transactions before it that idle, as a frozen server leaves them. Their own limit (3 s) would
 * end them too, but one after the other where they queue for one lock, and a stop has to answer within 5 s. Nothing that was answered is
 * lost, since an open transaction has not been answered.
 */
export async function terminateIdleBlockers<Result>(
  dataSource: DataSource, runner: QueryRunner, wait: () => Promise<Result>,
): Promise<Result> {
  const { processID: pid } = (await runner.connect()) as { processID: number };
  let silentMs = SILENT_MS;
  let looking = false;
  const look = async () => {
    if (looking) return;
    looking = true;
    try {
      const ended = await dataSource.query<unknown[]>(END_SILENT, [pid, silentMs]);
      if (ended.length > 0) silentMs = SILENT_TOO_MS;
    } catch {
      // No connection is free to look: the transactions still end by their own limit.
    } finally {
      looking = false;
    }
  };
  const timer = setInterval(() => void look(), LOOK_EVERY_MS);
  try {
    return await wait();
  } finally {
    clearInterval(timer);
  }
}
