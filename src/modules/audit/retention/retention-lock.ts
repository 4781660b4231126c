import { newClient, SESSION } from '../../../platform/database/new-client.js';
import { UnderWay } from '../../../platform/database/transaction/plan.js';
import { RETENTION_LOCK } from './retention-run.js';

/** @throws Error where the lock was lost */
export type StillAlone = () => Promise<void>;

/**
 * Works while no other process runs retention on this database or rewrites its archives. The lock lives as long as a connection of its
 * own, past a pooler. A retention run that loses the lock unnoticed is stopped by its state, which changes only once; whoever rewrites an
 * archive asks before an object is replaced. @throws UnderWay where another process works
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
