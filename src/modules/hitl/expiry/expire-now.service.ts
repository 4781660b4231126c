import { Injectable } from '@nestjs/common';
import type { TimeoutAction } from '../../../domain/gate/vocabulary.js';
import { recordsNothing } from '../../../platform/auth/access/call-context.js';
import type { Caller } from '../../../platform/auth/access/principal.js';
import { Replayed } from '../../../platform/database/transaction/idempotency.js';
import { StatementsOnPool } from '../../../platform/database/statements/statements-on-pool.js';
import { UnitOfWork } from '../../../platform/database/transaction/unit-of-work.js';
import { Waiters } from '../../../platform/wake/waiters.js';
import { HitlRequestStore } from '../requests/hitl-request.store.js';
import { refusalOf } from '../requests/refusals.js';
import { planFor } from '../requests/request-plan.js';
import { BackoffList } from './expiry-batches.js';
import { RequestExpiryService, type ExpiryResult } from './request-expiry.service.js';
import { TimeOutService } from './time-out.service.js';

/** How long a call may work; then it answers how far it came. */
const CALL_LIMIT_MS = 5_000;

/** Expires requests when a caller asks for it: one request now, or all that are due. */
@Injectable()
export class ExpireNowService {
  constructor(
    private readonly work: UnitOfWork,
    private readonly pool: StatementsOnPool,
    private readonly requests: HitlRequestStore,
    private readonly timingOut: TimeOutService,
    private readonly expiry: RequestExpiryService,
    private readonly waiters: Waiters,
  ) {}

  /** Ends the due requests within the caller's scope, as the service does every second; after a few seconds the rest is left to it. */
  async checkNow({ scope }: Caller): Promise<ExpiryResult> {
    const until = performance.now() + CALL_LIMIT_MS;
    const connections = { work: this.work, run: this.pool.run };
    const isOver = () => performance.now() > until;
    const result = await this.expiry.run({ scope, kinds: ['window'], connections, backoff: new BackoffList(), isOver });
    if (result.timedOut + result.approved + result.escalated === 0) recordsNothing();
    return result;
  }

  /**
   * The manual trigger, which works before the window's end too.
   *
   * @returns the action as applied, and whether this call was answered before
   * @throws Problem HITL_ALREADY_DECIDED
   */
  async trigger(id: string, caller: Caller): Promise<{ action: TimeoutAction; replayed: boolean }> {
    const ref = await this.requests.findRef(caller.scope, id);
    try {
      const action = await this.work.run(planFor(ref), async (tx) => {
        const request = await this.requests.read(tx, ref);
        const [outcome] = await this.timingOut.timeOutAll(tx, [request], 'manual', caller.actorId);
        if ('code' in outcome!) throw refusalOf(outcome, request);
        const applied = outcome!.accepted.action!;
        tx.reply(200, { hitlRequestId: ref.id, action: applied });
        return applied;
      });
      this.waiters.wake(ref.id);
      this.waiters.wake(ref.executionId);
      return { action, replayed: false };
    } catch (error) {
      if (!(error instanceof Replayed)) throw error;
      recordsNothing();
      return { action: (error.answer.body as { action: TimeoutAction }).action, replayed: true };
    }
  }
}
