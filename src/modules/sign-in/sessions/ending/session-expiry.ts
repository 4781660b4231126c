import { Inject, Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import type { Logger } from 'pino';
import { organizationChain } from '../../../../domain/audit/entry/chain.js';
import { MaintenanceMode } from '../../../../platform/audit/maintenance-mode.js';
import { asService } from '../../../../platform/auth/access/call-context.js';
import { scopeOfEverything } from '../../../../platform/auth/access/scope.js';
import type { Plan } from '../../../../platform/database/transaction/plan.js';
import { UnitOfWork } from '../../../../platform/database/transaction/unit-of-work.js';
import { isPassing } from '../../../../platform/http/reply/failure.js';
import { LOGGER } from '../../../../platform/logging/token.js';
import { EndSessions } from './end-sessions.js';
import { SessionStore } from '../session.store.js';
import { type DueSession, SessionsQuery } from '../sessions.query.js';

const LOOK_EVERY_MS = 10_000;
const AT_ONCE = 100;

/**
 * Says in the log that sessions have ended by themselves, and forgets the provider's tokens with them. They let nobody in from the moment
 * at which their time was over; so this can be late, and waits for nobody. On every server: heads that another one holds are left out,
 * and whatever it has ended is not ended again.
 */
@Injectable()
export class SessionExpiry {
  private isLooking = false;

  constructor(
    private readonly work: UnitOfWork,
    private readonly query: SessionsQuery,
    private readonly sessions: SessionStore,
    private readonly ends: EndSessions,
    private readonly maintenance: MaintenanceMode,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  @Interval(LOOK_EVERY_MS)
  async tick(): Promise<void> {
    if (this.isLooking || this.maintenance.because !== undefined) return;
    this.isLooking = true;
    try {
      await asService('sweeper', () => this.endAll());
    } catch (error) {
      // The database is away, or busy: the next look tries again, and readiness says so.
      if (!isPassing(error)) this.logger.error({ err: error }, 'sessions that are over could not be ended; the next look tries again');
    } finally {
      this.isLooking = false;
    }
  }

  private async endAll(): Promise<void> {
    let due: DueSession[] = [];
    do {
      due = await this.query.due(scopeOfEverything(), due.at(-1), AT_ONCE);
      if (due.length > 0) await this.endSome(due);
    } while (due.length === AT_ONCE);
  }

  private endSome(due: readonly DueSession[]): Promise<void> {
    const chains = [...new Set(due.map(({ organizationId }) => organizationId))].map(organizationChain);
    const plan: Plan = { chains, onlyFree: true, leavesFacts: true };
    return this.work.run(plan, async (tx) => {
      const free = due.filter(({ organizationId }) => tx.hasLocked(organizationChain(organizationId)));
      if (free.length === 0) return;
      // Used again since, and on another server: then it goes on.
      const { idle, expired } = await this.sessions.over(tx, free);
      await this.ends.end(tx, idle, 'idle', 'system');
      await this.ends.end(tx, expired, 'expired', 'system');
    });
  }
}
