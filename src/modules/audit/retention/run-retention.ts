import { Inject, Injectable } from '@nestjs/common';
import { PLATFORM_TREE } from '../../../domain/audit/notes/checkpoint.js';
import { signingKey } from '../../../domain/audit/notes/note.js';
import { ArchiveStore } from '../../../platform/audit/archive-store.js';
import { asService } from '../../../platform/auth/access/call-context.js';
import { CONFIG, type CompleteConfig } from '../../../platform/config/config.js';
import { commandWork, withDataSource } from '../../../platform/database/transaction/command-work.js';
import { UnitOfWork } from '../../../platform/database/transaction/unit-of-work.js';
import { instanceName } from '../checkpoints/checkpoint.query.js';
import { treeHeads } from '../checkpoints/tree-reader.query.js';
import { archiveOf } from './archives/directory-archive.js';
import { olderThan } from './retention-period.js';
import { withRetentionLock } from './retention-lock.js';
import { RetentionRunStore } from './retention-run.store.js';
import { RetentionRunner, type OrganizationRetention } from './retention-runner.js';

/** Entries archived by one retention run: what is read, written and verified before anything is deleted. */
export const ENTRIES_AT_ONCE = 10_000;

export type RetentionConfig = Pick<
  CompleteConfig, 'databaseUrl' | 'databaseListenUrl' | 'auditSigningKey' | 'auditAnchors' | 'auditRetentionDays' | 'auditArchive'
>;

export interface RetentionRunRequest {
  readonly store: RetentionRunStore;
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
 * Runs retention of one organization after another, while no other process does; what hinders one does not hinder the others.
 *
 * @throws UnderWay where another process does
 */
export async function* runRetention(given: RetentionRunRequest): AsyncGenerator<RetentionOutcome> {
  const { store, config, isOver = () => false } = given;
  const { run } = store;
  const [{ now }] = (await run('select clock_timestamp() as now', [])) as [{ now: Date }];
  // By the older of both clocks: that of the database is its owner's.
  const before = olderThan(new Date(Math.min(now.getTime(), Date.now())), config.auditRetentionDays!).toISOString();
  const instance = await instanceName(run);
  const runner = new RetentionRunner(store, given.work, given.archive, {
    instance, key: signingKey(instance, config.auditSigningKey), anchors: config.auditAnchors, atOnce: given.atOnce ?? ENTRIES_AT_ONCE,
  });
  for (const { tree: organizationId } of await treeHeads(run)) {
    if (organizationId === PLATFORM_TREE) continue;
    if (isOver()) return;
    const once = () => (given.isTrial ? runner.look(organizationId, before) : runner.run(organizationId, before, () => !isOver()));
    const address = config.databaseListenUrl ?? config.databaseUrl;
    const isolated = () => once().catch((failed: Error) => ({ organizationId, failed }));
    yield await (given.isTrial ? once() : withRetentionLock(address, isolated));
  }
}

/** The runs of a server. */
@Injectable()
export class RetentionRuns {
  constructor(
    private readonly store: RetentionRunStore,
    private readonly work: UnitOfWork,
    readonly archive: ArchiveStore,
    @Inject(CONFIG) private readonly config: CompleteConfig,
  ) {}

  all(isOver: () => boolean): AsyncGenerator<RetentionOutcome> {
    const { store, work, archive, config } = this;
    return runRetention({ store, work, archive, config, isOver });
  }
}

/** Runs retention on a database past any server, for the command line; its entries' origin is `cli`. */
export function runLogRetention(
  config: RetentionConfig, { isTrial, atOnce }: Pick<RetentionRunRequest, 'isTrial' | 'atOnce'>, onOutcome: (one: RetentionOutcome) => void,
): Promise<void> {
  return withDataSource(config.databaseUrl, 3, (dataSource) => asService('cli', async () => {
    const archive = archiveOf(config);
    if (!isTrial) await archive.check();
    const parts = { store: new RetentionRunStore(dataSource), work: commandWork(dataSource), archive, config };
    for await (const one of runRetention({ ...parts, isTrial, atOnce })) onOutcome(one);
  }));
}
