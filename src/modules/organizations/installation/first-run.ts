import { randomBytes } from 'node:crypto';
import type { DataSource } from 'typeorm';
import { organizationChain, platformChain } from '../../../domain/audit/entry/chain.js';
import { verifierKey } from '../../../domain/audit/notes/note.js';
import { newId } from '../../../domain/ids.js';
import { asService } from '../../../platform/auth/access/call-context.js';
import { CredentialSources } from '../../../platform/auth/credentials/credential-source.js';
import type { CompleteConfig } from '../../../platform/config/config.js';
import { IdempotencyKeys } from '../../../platform/database/transaction/idempotency.js';
import { UnitOfWork } from '../../../platform/database/transaction/unit-of-work.js';
import { OutboxSignal } from '../../../platform/outbox/outbox-signal.js';
import { assertSameSecrets, fingerprintsOf, type Fingerprints } from './secret-fingerprints.js';
import { hashRootKey, makeRootKey } from './root-key.js';

export interface FirstRun {
  /** Only when this start made it: it is shown once and never again. */
  rootKey?: string;
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
        { name: string; fingerprints: Fingerprints }[];
      if (!instance) return await setUp(dataSource, config);
      assertSameSecrets(instance.fingerprints, fingerprintsOf(config, instance.name));
      return {};
    } finally {
      await lock.query('select pg_advisory_unlock($1)', [FIRST_RUN_LOCK]);
    }
  } finally {
    await lock.release();
  }
}

async function setUp(dataSource: DataSource, config: CompleteConfig): Promise<FirstRun> {
  const rootKey = config.rootApiKey ?? makeRootKey();
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
        'insert into instance (name, first_organization_id, root_key_hash, secret_fingerprints) values ($1, $2, $3, $4)',
        [name, organizationId, hashRootKey(rootKey), JSON.stringify(fingerprintsOf(config, name))],
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
  return config.rootApiKey === undefined ? { rootKey } : {};
}
