import { randomBytes } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { signingKey } from '../../../domain/audit/note.js';
import { ArchiveStore } from '../../../platform/audit/archive-store.js';
import { asService } from '../../../platform/auth/call-context.js';
import { CredentialSources } from '../../../platform/auth/credential-source.js';
import { CONFIG, type CompleteConfig } from '../../../platform/config/config.js';
import { createDataSource } from '../../../platform/database/data-source.js';
import { IdempotencyKeys } from '../../../platform/database/idempotency.js';
import { UnitOfWork } from '../../../platform/database/unit-of-work.js';
import { OutboxBell } from '../../../platform/outbox/outbox-bell.js';
import { instanceName } from '../trees/checkpoint.query.js';
import { archiveOf } from './archive.directory.js';
import { olderThan } from './retention.js';
import { sweepingAlone } from './sweep-lock.js';
import { StandingLog } from './standing-log.query.js';
import { SweepStore, organizationsWithTrees } from './sweep.store.js';
import { Sweeper, type SweptOrganization } from './sweeper.js';

/** Entries archived by one sweep: what is read, written and verified before anything is deleted. */
export const ENTRIES_AT_ONCE = 10_000;

export type SweepConfig = Pick<
  CompleteConfig, 'databaseUrl' | 'databaseListenUrl' | 'auditSigningKey' | 'auditAnchors' | 'auditRetentionDays' | 'auditArchive'
>;

export interface Sweeping {
  readonly log: StandingLog;
  readonly work: UnitOfWork;
  readonly archive: ArchiveStore;
  readonly config: SweepConfig;
  readonly atOnce?: number;
  /** Only says what would go first. */
  readonly isTrial?: boolean;
  readonly isOver?: () => boolean;
}

export type SweepOutcome = SweptOrganization | { readonly organizationId: string; readonly failed: Error };

/**
 * Sweeps one organization after another, while no other process does; what hinders one does not hinder the others.
 *
 * @throws UnderWay where another process sweeps
 */
export async function* sweeping(given: Sweeping): AsyncGenerator<SweepOutcome> {
  const { log, config, isOver = () => false } = given;
  const { run } = log;
  const [{ now }] = (await run('select clock_timestamp() as now', [])) as [{ now: Date }];
  // By the older of both clocks: that of the database is its owner's.
  const before = olderThan(new Date(Math.min(now.getTime(), Date.now())), config.auditRetentionDays!).toISOString();
  const instance = await instanceName(run);
  const sweeper = new Sweeper(log, given.work, new SweepStore(), given.archive, {
    instance, key: signingKey(instance, config.auditSigningKey), anchors: config.auditAnchors, atOnce: given.atOnce ?? ENTRIES_AT_ONCE,
  });
  for (const organizationId of await organizationsWithTrees(run)) {
    if (isOver()) return;
    const sweep = () => (given.isTrial ? sweeper.look(organizationId, before) : sweeper.sweep(organizationId, before, () => !isOver()));
    const address = config.databaseListenUrl ?? config.databaseUrl;
    yield await (given.isTrial ? sweep() : sweepingAlone(address, () => sweep().catch((failed: Error) => ({ organizationId, failed }))));
  }
}

/** What sweeping takes, as the server has it. */
@Injectable()
export class LogSweeps {
  constructor(
    private readonly log: StandingLog,
    private readonly work: UnitOfWork,
    private readonly archive: ArchiveStore,
    @Inject(CONFIG) private readonly config: CompleteConfig,
  ) {}

  all(isOver: () => boolean): AsyncGenerator<SweepOutcome> {
    const { log, work, archive, config } = this;
    return sweeping({ log, work, archive, config, isOver });
  }
}

/** Sweeps a database past any server, for the command line; its entries' origin is `cli`. */
export async function sweepLog(
  config: SweepConfig, { isTrial, atOnce }: Pick<Sweeping, 'isTrial' | 'atOnce'>, tell: (one: SweepOutcome) => void,
): Promise<void> {
  const dataSource = createDataSource({ url: config.databaseUrl, poolSize: 3, connectTimeoutMs: 5_000 });
  await dataSource.initialize();
  try {
    // No call comes through here that could bring an idempotency key, so any secret does.
    const keys = new IdempotencyKeys({ encryptionKey: randomBytes(32).toString('base64') });
    const work = new UnitOfWork(dataSource, new CredentialSources(), keys, new OutboxBell());
    const archive = archiveOf(config);
    await asService('cli', async () => {
      if (!isTrial) await archive.check();
      for await (const one of sweeping({ log: new StandingLog(dataSource), work, archive, config, isTrial, atOnce })) tell(one);
    });
  } finally {
    await dataSource.destroy().catch(() => undefined);
  }
}
