import { Inject, Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource, type QueryRunner } from 'typeorm';
import { type ChainRef, PLATFORM_ORGANIZATION } from '../../../domain/audit/entry/chain.js';
import { MaintenanceMode } from '../../audit/maintenance-mode.js';
import { CredentialSources } from '../../auth/credentials/credential-source.js';
import type { Caller } from '../../auth/access/principal.js';
import { Problem } from '../../http/reply/problem.js';
import { requestContext } from '../../http/request/request-context.js';
import { DirectDispatch, type WrittenEffect } from '../../outbox/direct-dispatch.js';
import { OutboxSignal } from '../../outbox/outbox-signal.js';
import { Tx } from './tx.js';
import { IdempotencyKeys, Replayed } from './idempotency.js';
import { pipelined } from './pipelined.js';
import { isAlone, lockFreeHeads, lockHeads, drainBarriers, joinBarriers, lockBarriersAndHeads, takeBarriers } from './locks.js';
import { type Plan, UnderWay } from './plan.js';
import { preparing } from '../statements/prepared.js';
import { terminateIdleBlockers } from './idle-blockers.js';

/** The heads that a unit of work has locked, and those of them whose segment is closed. */
interface Locked {
  readonly chains: readonly ChainRef[];
  readonly closed: readonly ChainRef[];
}

/** The locks that a unit of work needs. */
interface WantedLocks {
  readonly plan: Plan;
  /** Of the plan and of the caller; those of the caller alone. */
  readonly barriers: readonly string[];
  readonly callers: readonly string[];
}

const ATTEMPTS = 3;
const DEADLOCK = '40P01';
const SERIALIZATION_FAILURE = '40001';

/**
 * The only maker of a `Tx`: one transaction with rows, audit entries and outbox rows. One order for
 * every transaction: idempotency key → barrier → heads, sorted → rows by table and id → inserts. The heads are locked before
 * authority or state is read: locked last, an approval would commit after a revocation that it has not seen.
 *
 * The work may run up to three times (deadlock, serialisation), so it has no effect outside of its `tx`: no network, no
 * mail, no runtime.
 */
@Injectable()
export class UnitOfWork {
  constructor(
    @InjectDataSource() private readonly dataSource: DataSource,
    @Inject(CredentialSources) private readonly credentials: CredentialSources,
    private readonly keys: IdempotencyKeys,
    private readonly signal: OutboxSignal,
    private readonly maintenance: MaintenanceMode = new MaintenanceMode(),
  ) {}

  async run<Result>(plan: Plan, work: (tx: Tx) => Promise<Result>): Promise<Result> {
    return this.runOn(plan, () => Promise.resolve(), work);
  }

  /**
   * As `run`, for work that begins by reading rows which its plan locks: `read` is sent behind the locks, in the same round trip to the
   * database. It may run twice.
   */
  async runOn<Known, Result>(
    plan: Plan, read: (tx: Tx) => Promise<Known>, work: (tx: Tx, known: Known) => Promise<Result>,
  ): Promise<Result> {
    for (let attempt = 1; ; attempt++) {
      this.maintenance.assertServing();
      try {
        return await this.once(plan, read, work);
      } catch (error) {
        if (attempt === ATTEMPTS || !isWorthAnotherAttempt(error)) throw error;
      }
    }
  }

  private async once<Known, Result>(
    plan: Plan, read: (tx: Tx) => Promise<Known>, work: (tx: Tx, known: Known) => Promise<Result>,
  ): Promise<Result> {
    const runner = this.dataSource.createQueryRunner();
    const tx = new Tx(runner, plan);
    let dispatch: DirectDispatch | undefined;
    let written: readonly WrittenEffect[];
    let result: Result;
    try {
      await preparing(runner, plan.patienceMs);
      const begun = runner.startTransaction();
      // Where it fails before it is waited for, the statements behind it fail with the same error.
      begun.catch(() => undefined);
      if (plan.alone !== undefined) {
        await begun;
        if (!(await isAlone(runner, plan.alone))) throw new UnderWay();
      }
      const context = requestContext.getStore();
      const claim = context?.idempotency;
      if (claim) await begun;
      const kept = claim && (await this.keys.claim(runner, claim));
      const callers = barriersOf(context?.caller);
      const barriers = [...(plan.judges ?? []), ...callers];
      if (kept) {
        await joinBarriers(runner, barriers);
        // A kept answer, too, is only for a caller whose rights have not ended since the guard read them.
        await this.recheckCredential(runner);
        throw new Replayed(kept);
      }
      const known = await this.takeLocks(runner, { plan, barriers, callers }, tx, read);
      await begun;
      result = await work(tx, known);
      await this.spendCredential(tx);
      await tx.raiseRevisions();
      if (claim && tx.answered) await this.keys.keep(runner, claim, tx.answered);
      // Made before anything is sent: an error here must not be followed by a commit. Behind a statement that fails, PostgreSQL makes
      // a rollback of the commit.
      dispatch = DirectDispatch.of(tx.enqueued, this.signal);
      const last = tx.lastStatement(dispatch.claimSeconds);
      const answer = last && tx.query<WrittenEffect & Record<string, unknown>>(last.sql, last.parameters);
      await pipelined([...tx.pending, answer, runner.commitTransaction()]);
      written = (await answer) ?? [];
      if (context) context.recorded += tx.recorded;
    } catch (error) {
      dispatch?.giveUp();
      // Where a queued statement has failed, the statements behind it failed only because of it: its error is the cause.
      const first = await pipelined(tx.pending).then(() => error, (earlier: unknown) => earlier);
      if (runner.isTransactionActive) await runner.rollbackTransaction().catch(() => undefined);
      if (error instanceof Replayed && plan.changesShared === 'all') await drainBarriers(this.dataSource, 'all');
      throw first;
    } finally {
      await runner.release();
    }
    const left = dispatch.begin(written);
    if (left.size > 0) this.signal.notify(left);
    tx.runOnCommit();
    if (plan.changesShared === 'all') await drainBarriers(this.dataSource, tx.changedShared);
    return result;
  }

  /** The credential is compared again behind the last lock, since it may have ended while the locks were waited for. */
  private async takeLocks<Known>(runner: QueryRunner, wanted: WantedLocks, tx: Tx, read: (tx: Tx) => Promise<Known>): Promise<Known> {
    const { plan, barriers } = wanted;
    if (plan.onlyFree || plan.urgent || plan.creates !== undefined || changedBy(plan).length > 0) {
      tx.setLocked(await this.lockInSteps(runner, wanted));
      await this.recheckCredential(runner);
      return read(tx);
    }
    const [closed, , known] = await pipelined([lockBarriersAndHeads(runner, barriers, plan), this.recheckCredential(runner), read(tx)]);
    tx.setLocked({ chains: plan.chains, closed });
    if (closed.length === 0) return known;
    // Where an agent has left, its organization's head was locked too, and may have been waited for.
    await this.recheckCredential(runner);
    return read(tx);
  }

  private async lockInSteps(runner: QueryRunner, { plan, barriers, callers }: WantedLocks): Promise<Locked> {
    if (plan.onlyFree) return { chains: await lockFreeHeads(runner, plan, callers), closed: [] };
    const changed = changedBy(plan);
    await (changed.length > 0 ? takeBarriers(this.dataSource, runner, changed, barriers) : joinBarriers(runner, barriers));
    const lock = () => lockHeads(runner, plan);
    return { chains: plan.chains, closed: await (plan.urgent ? terminateIdleBlockers(this.dataSource, runner, lock) : lock()) };
  }

  /** @throws Problem UNAUTHENTICATED where the caller's token was refreshed, or its key rotated, while this work waited for its locks */
  private async recheckCredential(runner: QueryRunner): Promise<void> {
    const caller = requestContext.getStore()?.caller;
    const source = caller && this.credentials.of(caller.principal);
    const reason = await source?.stillHolds(caller!.principal, (sql, parameters) => runner.query(sql, parameters));
    if (reason !== undefined) throw new Problem('UNAUTHENTICATED', reason);
  }

  /** @throws Problem UNAUTHENTICATED where a credential that is good once was used before */
  private async spendCredential(tx: Tx): Promise<void> {
    const caller = requestContext.getStore()?.caller;
    const source = caller && this.credentials.of(caller.principal);
    if (source?.spend === undefined || (await source.spend(caller!.principal, tx.run))) return;
    throw new Problem('UNAUTHENTICATED', 'it was used before');
  }
}

/**
 * The barriers that the caller's credential needs. A person's rights are shared facts, and so is the root key: a change that takes them
 * away waits at the barrier, so that no work of theirs commits after the answer to that change.
 */
function barriersOf(caller: Caller | undefined): string[] {
  if (caller?.principal.kind === 'user') return [caller.principal.organizationId];
  return caller?.principal.kind === 'root' ? [PLATFORM_ORGANIZATION] : [];
}

/** Organizations whose barrier the work takes exclusively. */
function changedBy({ changesShared = [] }: Plan): readonly string[] {
  return changesShared === 'all' ? [] : changesShared;
}

function isWorthAnotherAttempt(error: unknown): boolean {
  const code = (error as { code?: unknown }).code;
  return code === DEADLOCK || code === SERIALIZATION_FAILURE;
}
