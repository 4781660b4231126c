import { randomBytes } from 'node:crypto';
import type { DataSource } from 'typeorm';
import { CredentialSources } from '../../auth/credentials/credential-source.js';
import { OutboxSignal } from '../../outbox/outbox-signal.js';
import { createDataSource } from '../data-source.js';
import { IdempotencyKeys } from './idempotency.js';
import { UnitOfWork } from './unit-of-work.js';

const CONNECT_TIMEOUT_MS = 5_000;

/** Connects a command to a database, past any server, for as long as `command` takes. */
export async function withDataSource<Result>(
  url: string, poolSize: number, command: (dataSource: DataSource) => Promise<Result>,
): Promise<Result> {
  const dataSource = createDataSource({ url, poolSize, connectTimeoutMs: CONNECT_TIMEOUT_MS });
  await dataSource.initialize();
  try {
    return await command(dataSource);
  } finally {
    await dataSource.destroy().catch(() => undefined);
  }
}

/** Units of work of a command. No call brings it an idempotency key, so any secret does. */
export function commandWork(dataSource: DataSource): UnitOfWork {
  const keys = new IdempotencyKeys({ encryptionKey: randomBytes(32).toString('base64') });
  return new UnitOfWork(dataSource, new CredentialSources(), keys, new OutboxSignal());
}
