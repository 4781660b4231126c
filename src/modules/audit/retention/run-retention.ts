import { randomBytes } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { signingKey } from '../../../domain/audit/notes/note.js';
import { ArchiveStore } from '../../../platform/audit/archive-store.js';
import { asService } from '../../../platform/auth/access/call-context.js';
import { CredentialSources } from '../../../platform/auth/credentials/credential-source.js';
import { CONFIG, type CompleteConfig } from '../../../platform/config/config.js';
import { createDataSource } from '../../../platform/database/data-source.js';
import { IdempotencyKeys } from '../../../platform/database/transaction/idempotency.js';
import { UnitOfWork } from '../../../platform/database/transaction/unit-of-work.js';
import { OutboxSignal } from '../../../platform/outbox/outbox-signal.js';
import { instanceName } from '../checkpoints/checkpoint.query.js';
import { archiveOf } from './archives/directory-archive.js';
import { olderThan } from './retention-period.js';
import { withRetentionLock } from './retention-lock.js';
import { RetentionSnapshot } from './retention-snapshot.query.js';
import { RetentionRunStore, organizationsWithTrees } from './retention-run.store.js';
import { RetentionRunner, type OrganizationRetention } from './retention-runner.js';

/** Entries archived by one sweep: what is read, written and verified before anything is deleted. */
export const ENTRIES_AT_ONCE = 10_000;

export type RetentionConfig = Pick<
  CompleteConfig, 'databaseUrl' | 'databaseListenUrl' | 'auditSigningKey' | 'auditAnchors' | 'auditRetentionDays' | 'auditArchive'
>;

export interface RetentionRunRequest {
  readonly log: RetentionSnapshot;
  readonly work: UnitOfWork;
  readonly archive: ArchiveStore;
  readonly config: RetentionConfig;
  readonly atOnce?: number;
  /** Only says what would go first. */
  readonly isTrial?: boolean;
  readonly isOver?: () => boolean;
}

export type RetentionOutcome = OrganizationRetention | { readonly organizationId: string; readonly failed: Error };

/**
 * Sweeps one organization after another, while no other process does; what hinders one does not hinder the others.
 *
 * @throws UnderWay where another process sweeps
 */
export async function* runRetention(given: RetentionRunRequest): AsyncGenerator<RetentionOutcome> {
  const { log, config, isOver = () => false } = given;
  const { run } = log;
  const [{ now }] = (await run('select clock_timestamp() as now', [])) as [{ now: Date }];
  // By the older of both clocks: that of the database is its owner's.
  const before = olderThan(new Date(Math.min(now.getTime(), Date.now())), config.auditRetentionDays!).toISOString();
  const instance = await instanceName(run);
  const sweeper = new RetentionRunner(log, given.work, new RetentionRunStore(), given.archive, {
    instance, key: signingKey(instance, config.auditSigningKey), anchors: config.auditAnchors, atOnce: given.atOnce ?? ENTRIES_AT_ONCE,
  });
  for (const organizationId of await organizationsWithTrees(run)) {
    if (isOver()) return;
    const sweep = () => (given.isTrial ? sweeper.look(organizationId, before) : sweeper.sweep(organizationId, before, () => !isOver()));
    const address = config.databaseListenUrl ?? config.databaseUrl;
    const isolated = () => sweep().catch((failed: Error) => ({ organizationId, failed }));
    yield await (given.isTrial ? sweep() : withRetentionLock(address, isolated));
  }
}

/** What sweeping takes, as the server has it. */
@Injectable()
export class RetentionRuns {
  constructor(
    private readonly log: RetentionSnapshot,
    private readonly work: UnitOfWork,
    private readonly archive: ArchiveStore,
    @Inject(CONFIG) private readonly config: CompleteConfig,
  ) {}

  all(isOver: () => boolean): AsyncGenerator<RetentionOutcome> {
    const { log, work, archive, config } = this;
    return runRetention({ log, work, archive, config, isOver });
  }
}

/** Sweeps a database past any server, for the command line; its entries' origin is `cli`. */
export async function runLogRetention(
  config: RetentionConfig, { isTrial, atOnce }: Pick<RetentionRunRequest, 'isTrial' | 'atOnce'>, tell: (one: RetentionOutcome) => void,
): Promise<void> {
  const dataSource = createDataSource({ url: config.databaseUrl, poolSize: 3, connectTimeoutMs: 5_000 });
  await dataSource.initialize();
  try {
    // No call comes through here that could bring an idempotency key, so any secret does.
    const keys = new IdempotencyKeys({ encryptionKey: randomBytes(32).toString('base64') });
    const work = new UnitOfWork(dataSource, new CredentialSources(), keys, new OutboxSignal());
    const archive = archiveOf(config);
    await asService('cli', async () => {
      if (!isTrial) await archive.check();
      for await (const one of runRetention({ log: new RetentionSnapshot(dataSource), work, archive, config, isTrial, atOnce })) tell(one);
    });
  } finally {
    await dataSource.destroy().catch(() => undefined);
  }
}
