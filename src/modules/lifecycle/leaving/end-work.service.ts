import { Injectable } from '@nestjs/common';
import type { Tx } from '../../../platform/database/transaction/tx.js';
import { CancelWorkService } from '../../hitl/requests/cancel-work.service.js';
import { EndTasksService } from '../../tasks/end-tasks.service.js';

/** Ends what an agent that leaves has open: requests, what was approved and has not begun, and tasks. */
@Injectable()
export class EndWorkService {
  constructor(
    private readonly cancelling: CancelWorkService,
    private readonly tasks: EndTasksService,
  ) {}

  /**
   * In the caller's unit of work, under the agent's head.
   *
   * @param cause a code for the entries
   * @returns ids to announce after the commit
   */
  async endAll(tx: Tx, organizationId: string, agentId: string, cause: string): Promise<string[]> {
    const requests = await this.cancelling.openRequests(tx, organizationId, agentId, cause);
    const approved = await this.cancelling.approved(tx, organizationId, agentId, cause);
    await this.tasks.endOf(tx, organizationId, agentId, cause);
    return [...requests, ...approved];
  }

  /** Wakes the callers that wait for these requests and executions. */
  announce(ids: readonly string[]): void {
    this.cancelling.announce(ids);
  }
}
