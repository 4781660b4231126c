import { randomBytes } from 'node:crypto';
import type { DataSource, QueryRunner } from 'typeorm';
import { organizationChain, platformChain } from '../../../domain/audit/entry/chain.js';
import { verifierKey } from '../../../domain/audit/notes/note.js';
import { newId } from '../../../domain/ids.js';
import { asService } from '../../../platform/auth/access/call-context.js';
import { CredentialSources } from '../../../platform/auth/credentials/credential-source.js';
import type { CompleteConfig } from '../../../platform/config/config.js';
import { StartRefused } from '../../../platform/config/start-refused.js';
import { commandWork } from '../../../platform/database/transaction/command-work.js';
import { IdempotencyKeys } from '../../../platform/database/transaction/idempotency.js';
import { UnitOfWork } from '../../../platform/database/transaction/unit-of-work.js';
import { OutboxSignal } from '../../../platform/outbox/outbox-signal.js';
import { firstMarkKey, SealedBox } from '../../../platform/secrets/sealed-box.js';
import { assertSameSecrets, fingerprintsOf, firstFingerprints, type KeptFingerprints, rotationSteps } from './secret-fingerprints.js';
import { hashRootKey, makeRootKey } from './root-key.js';

export interface FirstRun {
  /** Only when this start made it: it is shown once and never again. */
  rootKey?: string;
  /** Of this installation's marks. */
  readonly markKey: Buffer;
}

const FIRST_RUN_LOCK = 715_517_002;
const FIRST_ORGANIZATION_NAME = 'Default';

/**
 * Makes what an installation needs once: its name, the first organization and the root key. On every later start it
 * compares the secrets with the fingerprints that the database keeps, so that a replica with another secret does not
 * serve: its tokens and its signatures would be worth nothing to the others.
 *
 * @throws StartRefused naming the secret that differs
 */
export async function firstRun(dataSource: DataSource, config: CompleteConfig): Promise<FirstRun> {
  const lock = dataSource.createQueryRunner();
  await lock.connect();
  try {
    await lock.query('select pg_advisory_lock($1)', [FIRST_RUN_LOCK]);
    try {
      const [instance] = (await lock.query('select name, secret_fingerprints as fingerprints from instance')) as
        { name: string; fingerprints: KeptFingerprints }[];
      if (!instance) return await setUp(dataSource, config);
      const kept = assertSameSecrets(instance.fingerprints, fingerprintsOf(config, instance.name));
      if (JSON.stringify(kept) !== JSON.stringify(instance.fingerprints)) await keep(dataSource, instance.fingerprints, kept);
      return { markKey: await markKeyOf(lock, config, instance.name) };
    } finally {
      await lock.query('select pg_advisory_unlock($1)', [FIRST_RUN_LOCK]);
    }
  } finally {
    await lock.release();
  }
}

/** A command may have changed them meanwhile, past this lock: then the next start compares anew. */
async function keep(dataSource: DataSource, before: KeptFingerprints, after: KeptFingerprints): Promise<void> {
  await asService('cli', () => commandWork(dataSource).run({ chains: [platformChain()], leavesFacts: true }, async (tx) => {
    const changed = await tx.query(
      `with changed as (update instance set secret_fingerprints = $1::json where secret_fingerprints::jsonb = $2::jsonb returning 1)
       select 1 from changed`,
      [JSON.stringify(after), JSON.stringify(before)],
    );
    if (changed.length === 0) return;
    for (const metadata of rotationSteps(before, after)) tx.record(platformChain(), { type: 'admin.secret_rotated', metadata });
  }));
}

/** The key of marks, opened; an installation that has none yet gets that which its ENCRYPTION_KEY has been making marks by. */
async function markKeyOf(lock: QueryRunner, config: CompleteConfig, instance: string): Promise<Buffer> {
  const box = new SealedBox(config);
  const first = box.seal('mark-key', instance, firstMarkKey(config.encryptionKey));
  await lock.query('update instance set mark_key = $1 where mark_key is null', [first]);
  const [row] = (await lock.query('select mark_key as sealed from instance')) as [{ sealed: Buffer }];
  const opened = box.open('mark-key', instance, row.sealed);
  if (opened === undefined) throw new StartRefused('ENCRYPTION_KEY: does not open what this database holds. Restore a backup.');
  return opened;
}

async function setUp(dataSource: DataSource, config: CompleteConfig): Promise<FirstRun> {
  const rootKey = config.rootApiKey ?? makeRootKey();
  const markKey = firstMarkKey(config.encryptionKey);
  const organizationId = newId('org');
  const name = `countersign-${randomBytes(6).toString('hex')}`;
  const work = new UnitOfWork(dataSource, new CredentialSources(), new IdempotencyKeys(config), new OutboxSignal());
  const chains = [platformChain(), organizationChain(organizationId)];
  await asService('cli', () =>
    work.run({ chains, creates: chains }, async (tx) => {
      const now = await tx.now();
      await tx.query(
        'insert into organizations (id, name, separation_of_duties, created_at, updated_at) values ($1, $2, $3, $4, $4)',
        [organizationId, FIRST_ORGANIZATION_NAME, config.separationOfDuties, now],
      );
      await tx.query(
        'insert into instance (name, first_organization_id, root_key_hash, secret_fingerprints, mark_key) values ($1, $2, $3, $4, $5)',
        [
          name, organizationId, hashRootKey(rootKey), JSON.stringify(firstFingerprints(fingerprintsOf(config, name))),
          new SealedBox(config).seal('mark-key', name, markKey),
        ],
      );
      // The platform's chain opens with the key that will sign its checkpoints.
      tx.record(platformChain(), {
        type: 'admin.signing_key_rotated',
        metadata: { keyId: verifierKey(name, config.auditSigningKey) },
      });
      tx.record(organizationChain(organizationId), {
        type: 'admin.organization_created',
        metadata: {
          organizationId,
          name: FIRST_ORGANIZATION_NAME,
          settings: { separationOfDuties: config.separationOfDuties },
        },
      });
    }),
  );
  return config.rootApiKey === undefined ? { rootKey, markKey } : { markKey };
}
