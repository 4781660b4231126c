import { platformChain } from '../../../domain/audit/entry/chain.js';
import { asService } from '../../../platform/auth/access/call-context.js';
import { StartRefused } from '../../../platform/config/start-refused.js';
import { commandWork, withDataSource } from '../../../platform/database/transaction/command-work.js';
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

const KEY_ID_DIGITS = 16;

/**
 * Replaces the root key, and needs no old one: who can write to the database is trusted with it. Servers compare the stored hash
 * at every call and in every commit, so the old key is dead on all of them with the commit; this answers when also nothing
 * that it had begun can commit any more. The entry's actor is `system` and its origin `cli`: no verified credential stands behind
 * the command, and whom the database let in is not known here.
 *
 * @throws StartRefused for a database that was never set up
 */
export function rotateRootKey(databaseUrl: string): Promise<RotatedKey> {
  return withDataSource(databaseUrl, 2, async (dataSource) => {
    const store = new RootKeyStore(dataSource);
    if (!(await store.isSetUp())) {
      throw new StartRefused('this database was never set up: start the server on it once, which makes the first root key');
    }
    const rootKey = makeRootKey();
    const keyHash = hashRootKey(rootKey);
    const keyId = keyHash.slice(0, KEY_ID_DIGITS);
    const rotatedAt = await asService('cli', () =>
      commandWork(dataSource).run({ chains: [platformChain()], leavesFacts: true }, async (tx) => {
        const now = await tx.now();
        await store.replace(tx, keyHash, now);
        tx.record(platformChain(), { type: 'admin.key_rotated', metadata: { keyId } });
        return now;
      }),
    );
    // From here on the new key is the only one: whatever fails, it must be shown.
    const unwaited = await store.passOldKey().then(() => undefined, (error: unknown) => error);
    return { rootKey, keyId, rotatedAt, ...(unwaited === undefined ? {} : { unwaited }) };
  });
}
