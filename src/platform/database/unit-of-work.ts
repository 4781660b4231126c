import { Inject, Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource, type QueryRunner } from 'typeorm';
import { type ChainRef, PLATFORM_ORGANIZATION } from '../../domain/audit/chain.js';
import { Hold } from '../audit/hold.js';
import { CredentialSources } from '../auth/credential-source.js';
import type { Caller } from '../auth/principal.js';
import { Problem } from '../http/problem.js';
import { requestContext } from '../http/request-context.js';
import { OutboxBell } from '../outbox/outbox-bell.js';
import { Tx } from './tx.js';
import { IdempotencyKeys, Replayed } from './idempotency.js';
import { inOneGo } from './in-one-go.js';
import { isAlone, lockFreeHeads, lockHeads, passBarriers, shareBarrier, takeHold } from './locks.js';
import { type Plan, UnderWay } from './plan.js';
import { preparing } from './prepared.js';
import { outwaitSilent } from './silent-holders.js';

/** The heads that a unit of work holds, and those of them whose segment is closed. */
interface Locked {
  readonly chains: readonly ChainRef[];
  readonly closed: readonly ChainRef[];
}

const ATTEMPTS = 3;
const DEADLOCK = '40P01';
const SERIALIZATION_FAILURE = '40001';

/**
 * The only maker of a `Tx`: one transaction that holds rows, audit entries and outbox rows together. One order for
 * every transaction: idempotency key → barrier → heads, sorted → rows by table and id → inserts. The heads come before
 * authority or state is read: locked last, an approval commits after a revocation that it has not seen.
 *
 * The story may run up to three times (deadlock, serialisation), so it has no effect outside its `tx`: no network, no
 * mail, no runtime.
 */
@Injectable()
export class UnitOfWork {
  constructor(
    @InjectDataSource() private readonly dataSource: DataSource,
    @Inject(CredentialSources) private readonly credentials: CredentialSources,
    private readonly keys: IdempotencyKeys,
    private readonly bell: OutboxBell,
    private readonly hold: Hold = new Hold(),
  ) {}

  async run<Result>(plan: Plan, story: (tx: Tx) => Promise<Result>): Promise<Result> {
    for (let attempt = 1; ; attempt++) {
      this.hold.assertServing();
      try {
        return await this.once(plan, story);
      } catch (error) {
        if (attempt === ATTEMPTS || !isWorthAnotherAttempt(error)) throw error;
      }
    }
  }

  private async once<Result>(plan: Plan, story: (tx: Tx) => Promise<Result>): Promise<Result> {
    const runner = this.dataSource.createQueryRunner();
    let tx: Tx;
    let result: Result;
    try {
      await preparing(runner, plan.patienceMs);
      const begun = runner.startTransaction();
      // Whoever fails before it is waited for has been told the like by what followed it.
      begun.catch(() => undefined);
      if (plan.alone !== undefined) {
        await begun;
        if (!(await isAlone(runner, plan.alone))) throw new UnderWay();
      }
      const context = requestContext.getStore();
      const claim = context?.idempotency;
      if (claim) await begun;
      const kept = claim && (await this.keys.claim(runner, claim));
      const callers = barrierOf(context?.caller);
      const barriers = [...(plan.judges ?? []), ...callers];
      if (kept) {
        await shareBarrier(runner, barriers);
        // A kept answer, too, is for nobody whose rights have ended since the guard read them.
        await this.recheckCredential(runner);
        throw new Replayed(kept);
      }
      const { chains, closed } = await this.takeLocks(runner, plan, barriers, callers);
      await begun;
      tx = new Tx(runner, { ...plan, chains }, closed);
      result = await story(tx);
      await tx.raiseRevisions();
      if (claim && tx.answered) await this.keys.keep(runner, claim, tx.answered);
      // Made before anything is sent: what cannot be said must not be followed by a commit. One behind a statement that fails is
      // none, PostgreSQL makes a rollback of it.
      const last = tx.lastStatement();
      await inOneGo([last && tx.query(last.sql, last.parameters), runner.commitTransaction()]);
      if (context) context.recorded += tx.recorded;
    } catch (error) {
      if (runner.isTransactionActive) await runner.rollbackTransaction().catch(() => undefined);
      if (error instanceof Replayed) await passBarriers(this.dataSource, plan.changesShared ?? []);
      throw error;
    } finally {
      await runner.release();
    }
    tx.tell();
    if (tx.enqueued > 0) this.bell.ring();
    await passBarriers(this.dataSource, tx.changedShared);
    return result;
  }

  /** The credential is looked at behind the last lock: what waited for it may have outlived its caller. */
  private async takeLocks(runner: QueryRunner, plan: Plan, barriers: readonly string[], callers: readonly string[]): Promise<Locked> {
    if (plan.onlyFree || plan.urgent || plan.creates !== undefined) {
      const locked = await this.lockInSteps(runner, plan, barriers, callers);
      await this.recheckCredential(runner);
      return locked;
    }
    const [closed] = await inOneGo([takeHold(runner, barriers, plan), this.recheckCredential(runner)]);
    // Where an agent has left there was one more lock to wait for.
    if (closed.length > 0) await this.recheckCredential(runner);
    return { chains: plan.chains, closed };
  }

  private async lockInSteps(runner: QueryRunner, plan: Plan, barriers: readonly string[], callers: readonly string[]): Promise<Locked> {
    if (plan.onlyFree) return { chains: await lockFreeHeads(runner, plan, callers), closed: [] };
    await shareBarrier(runner, barriers);
    const lock = () => lockHeads(runner, plan);
    return { chains: plan.chains, closed: await (plan.urgent ? outwaitSilent(this.dataSource, runner, lock) : lock()) };
  }

  /** A token refreshed, or a key rotated, while this work waited for its locks must not outlive the wait. */
  private async recheckCredential(runner: QueryRunner): Promise<void> {
    const caller = requestContext.getStore()?.caller;
    const source = caller && this.credentials.of(caller.principal);
    const reason = await source?.stillHolds(caller!.principal, (sql, parameters) => runner.query(sql, parameters));
    if (reason !== undefined) throw new Problem('UNAUTHENTICATED', reason);
  }
}

/**
 * A person's rights are shared facts, and so is the root key: whoever takes them away waits at the barrier, so that nothing
 * they had begun commits after that answer.
 */
function barrierOf(caller: Caller | undefined): string[] {
  if (caller?.principal.kind === 'user') return [caller.principal.organizationId];
  return caller?.principal.kind === 'root' ? [PLATFORM_ORGANIZATION] : [];
}

function isWorthAnotherAttempt(error: unknown): boolean {
  const code = (error as { code?: unknown }).code;
  return code === DEADLOCK || code === SERIALIZATION_FAILURE;
}
