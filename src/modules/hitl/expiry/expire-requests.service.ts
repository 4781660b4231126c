import { Injectable } from '@nestjs/common';
import type { TimeoutAction } from '../../../domain/gate/vocabulary.js';
import { recordsNothing } from '../../../platform/auth/access/call-context.js';
import type { Caller } from '../../../platform/auth/access/principal.js';
import { Replayed } from '../../../platform/database/transaction/idempotency.js';
import { StatementsOnPool } from '../../../platform/database/statements/statements-on-pool.js';
import { UnitOfWork } from '../../../platform/database/transaction/unit-of-work.js';
import { Waiters } from '../../../platform/wake/waiters.js';
import { HitlRequestStore } from '../requests/hitl-request.store.js';
import { refusalOf } from '../requests/apply-transition.service.js';
import { planFor } from '../requests/request-plan.js';
import { SetAside } from './sweep-batches.js';
import { SweepService, type Swept } from './sweep.service.js';
import { TimeOutService } from './time-out.service.js';

/** How long a call may sweep: then it says how far it came. */
const CALL_SWEEPS_MS = 5_000;

/** Time's end at somebody's request: of one request now, or of all that is due. */
@Injectable()
export class ExpireRequestsService {
  constructor(
    private readonly work: UnitOfWork,
    private readonly pool: StatementsOnPool,
    private readonly requests: HitlRequestStore,
    private readonly timingOut: TimeOutService,
    private readonly sweeps: SweepService,
    private readonly waiters: Waiters,
  ) {}

  /** What is due of the caller's, as the sweeper does it; what is left after a few seconds is the sweeper's. */
  async checkNow({ scope }: Caller): Promise<Swept> {
    const until = performance.now() + CALL_SWEEPS_MS;
    const lane = { work: this.work, run: this.pool.run };
    const isOver = () => performance.now() > until;
    const swept = await this.sweeps.sweep({ scope, kinds: ['window'], lane, setAside: new SetAside(), isOver });
    if (swept.timedOut + swept.approved + swept.escalated === 0) recordsNothing();
    return swept;
  }

  /**
   * The manual trigger: before the window's end too.
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
