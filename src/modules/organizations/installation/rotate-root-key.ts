import { randomBytes } from 'node:crypto';
import { platformChain } from '../../../domain/audit/entry/chain.js';
import { asService } from '../../../platform/auth/access/call-context.js';
import { CredentialSources } from '../../../platform/auth/credentials/credential-source.js';
import { StartRefused } from '../../../platform/config/start-refused.js';
import { createDataSource } from '../../../platform/database/data-source.js';
import { IdempotencyKeys } from '../../../platform/database/transaction/idempotency.js';
import { UnitOfWork } from '../../../platform/database/transaction/unit-of-work.js';
import { OutboxSignal } from '../../../platform/outbox/outbox-signal.js';
import { hashRootKey, makeRootKey } from './root-key.js';
import { RootKeyStore } from './root-key.store.js';

export interface RotatedKey {
  /** Shown once: only its hash is stored. */
  readonly rootKey: string;
  /** The beginning of that hash, which the log names the key by. */
  readonly keyId: string;
  readonly rotatedAt: Date;
  /** What kept us from waiting for calls that the old key had begun before it died; absent when they have all ended. */
  readonly unwaited?: unknown;
}

const CONNECT_TIMEOUT_MS = 5_000;
const KEY_ID_DIGITS = 16;

/**
 * Replaces the root key, and needs no old one: who can write to the database is trusted with it. Servers compare the stored hash
 * at every call and in every commit, so the old key is dead on all of them with the commit; this answers when also nothing
 * that it had begun can commit any more. The entry's actor is `system` and its origin `cli`: no verified credential stands behind
 * the command, and whom the database let in is not known here.
 *
 * @throws StartRefused for a database that was never set up
 */
export async function rotateRootKey(databaseUrl: string): Promise<RotatedKey> {
  const dataSource = createDataSource({ url: databaseUrl, poolSize: 2, connectTimeoutMs: CONNECT_TIMEOUT_MS });
  await dataSource.initialize();
  try {
    const store = new RootKeyStore(dataSource);
    if (!(await store.isSetUp())) {
      throw new StartRefused('this database was never set up: start the server on it once, which makes the first root key');
    }
    const rootKey = makeRootKey();
    const keyHash = hashRootKey(rootKey);
    const keyId = keyHash.slice(0, KEY_ID_DIGITS);
    // No call comes through here that could bring an idempotency key, so any secret does.
    const keys = new IdempotencyKeys({ encryptionKey: randomBytes(32).toString('base64') });
    const work = new UnitOfWork(dataSource, new CredentialSources(), keys, new OutboxSignal());
    const rotatedAt = await asService('cli', () =>
      work.run({ chains: [platformChain()], leavesFacts: true }, async (tx) => {
        const now = await tx.now();
        await store.replace(tx, keyHash, now);
        tx.record(platformChain(), { type: 'admin.key_rotated', metadata: { keyId } });
        return now;
      }),
    );
    // From here on the new key is the only one: whatever fails, it must be shown.
    const unwaited = await store.passOldKey().then(() => undefined, (error: unknown) => error);
    return { rootKey, keyId, rotatedAt, ...(unwaited === undefined ? {} : { unwaited }) };
  } finally {
    await dataSource.destroy().catch(() => undefined);
  }
}
