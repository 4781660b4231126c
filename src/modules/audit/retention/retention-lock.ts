import { newClient, SESSION } from '../../../platform/database/new-client.js';
import { UnderWay } from '../../../platform/database/transaction/plan.js';
import { RETENTION_LOCK } from './retention-run.js';

/** Whether the lock is still held. @throws Error where it was lost */
export type StillAlone = () => Promise<void>;

/**
 * Works while no other process sweeps this database, or rewrites its archives: a server, or the command line. The lock lives as long
 * as a connection of its own, which goes past a pooler. A sweep that loses it unnoticed is stopped by the states of sweeps, which
 * change hands only once; whoever rewrites an archive asks before it puts an object in its place.
 *
 * @throws UnderWay where another process does
 */
export async function withRetentionLock<Result>(databaseUrl: string, work: (stillAlone: StillAlone) => Promise<Result>): Promise<Result> {
  const client = newClient({ url: databaseUrl, name: 'countersign retention', session: SESSION });
  client.on('error', () => undefined);
  await client.connect();
  try {
    const { rows } = await client.query<{ mine: boolean }>('select pg_try_advisory_lock($1) as mine', [RETENTION_LOCK]);
    if (rows[0]?.mine !== true) throw new UnderWay();
    return await work(async () => void (await client.query('select')));
  } finally {
    await client.end().catch(() => undefined);
  }
}
