import type { DataSource } from 'typeorm';
import { StartRefused } from '../config/start-refused.js';
import { newClient } from './new-client.js';
import type { SessionClient } from './session-client.js';

/** Asked twice in a row each, so that a pooler which takes its connections in turn shows itself as well. */
const ROUNDS = 3;

/**
 * Refuses a pooler that gives connections out by transaction or statement: advisory locks, prepared statements and limits are a session's.
 * It shows by two of our connections meeting the same process of the database, or one of them another than before.
 *
 * @param dataSource of two connections at least
 * @throws StartRefused
 */
export async function refuseTransactionPooling(dataSource: DataSource): Promise<void> {
  const runners = [dataSource.createQueryRunner(), dataSource.createQueryRunner()];
  try {
    const clients = [await runners[0]!.connect(), await runners[1]!.connect()] as [SessionClient, SessionClient];
    await assertSessions('DATABASE_URL', clients);
  } finally {
    for (const runner of runners) await runner.release();
  }
}

/** The same for the address past a pooler. @throws StartRefused, Error when it cannot be reached */
export async function refuseTransactionPoolingAt(url: string): Promise<void> {
  const clients = [1, 2].map(() => newClient({ url, name: 'countersign start' })) as [SessionClient, SessionClient];
  try {
    for (const client of clients) {
      client.on('error', () => undefined);
      await client.connect();
    }
    await assertSessions('DATABASE_LISTEN_URL', clients);
  } finally {
    for (const client of clients) await client.end().catch(() => undefined);
  }
}

async function assertSessions(variable: string, [first, second]: readonly [SessionClient, SessionClient]): Promise<void> {
  if (!first.isPooled && !second.isPooled) return;
  for (let round = 0; round < ROUNDS; round++) {
    for (const client of [first, second, second, first]) {
      const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
      if (rows[0]!.pid === client.processID && first.processID !== second.processID) continue;
      throw new StartRefused(
        `${variable}: a pooler gives connections out by transaction or statement, and locks, prepared statements and limits need sessions. `
        + 'Set pool_mode = session for this database (PgBouncer), or connect past the pooler.',
      );
    }
  }
}
