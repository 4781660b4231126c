import { Injectable } from '@nestjs/common';
import type { Scope } from '../../../platform/auth/access/scope.js';
import type { Tx } from '../../../platform/database/transaction/tx.js';
import { UnitOfWork } from '../../../platform/database/transaction/unit-of-work.js';
import { Waiters } from '../../../platform/wake/waiters.js';
import type { HitlRequestEntity } from './hitl-request.entity.js';
import { HitlRequestStore, type RequestToDecide } from './hitl-request.store.js';
import { planFor } from './request-plan.js';

/** Runs one command on one request in a unit of work, and wakes the callers that wait for the request or its execution. */
@Injectable()
export class RequestWork {
  constructor(
    private readonly work: UnitOfWork,
    private readonly requests: HitlRequestStore,
    private readonly waiters: Waiters,
  ) {}

  /**
   * @param read what the command rests on; sent together with the locks of the plan
   * @throws Problem NOT_FOUND for a request outside of the scope
   */
  async run<Context, Result>(
    scope: Scope, id: string,
    read: (tx: Tx, ref: RequestToDecide) => Promise<Context>,
    act: (tx: Tx, context: Context) => Promise<Result>,
  ): Promise<Result> {
    const ref = await this.requests.findRef(scope, id);
    const result = await this.work.runOn(planFor(ref), (tx) => read(tx, ref), (tx, context) => {
      // The idempotency record keeps no more than the id: a repeated call is answered with the request's present state.
      tx.reply(200, { hitlRequestId: ref.id });
      return act(tx, context);
    });
    this.waiters.wake(ref.id);
    this.waiters.wake(ref.executionId);
    return result;
  }

  /** The same for a command that rests on the request's row alone. */
  runOnRow<Result>(scope: Scope, id: string, act: (tx: Tx, request: HitlRequestEntity) => Promise<Result>): Promise<Result> {
    return this.run(scope, id, (tx, ref) => this.requests.read(tx, ref), act);
  }
}
