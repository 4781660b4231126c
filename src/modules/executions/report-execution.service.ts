import { Injectable } from '@nestjs/common';
import { agentChain } from '../../domain/audit/entry/chain.js';
import type { JsonObject, JsonValue } from '../../domain/json.js';
import type { Caller } from '../../platform/auth/access/principal.js';
import { UnitOfWork } from '../../platform/database/transaction/unit-of-work.js';
import { Problem } from '../../platform/http/reply/problem.js';
import type { Reply } from '../../platform/http/reply/replies.js';
import type { ExecutionEntity } from './execution.entity.js';
import { ExecutionStore } from './execution.store.js';
import type { ReportDto, SettleDto } from './executions.dto.js';
import { type ExecutionEnvelope, presentExecution } from './executions.presenter.js';

const REPORT_WINDOW_MS = 24 * 3_600_000;

/** What others say of an execution afterwards: told apart, always, from what the service saw itself. */
@Injectable()
export class ReportExecutionService {
  constructor(
    private readonly work: UnitOfWork,
    private readonly executions: ExecutionStore,
  ) {}

  /** What came of a receipt-only execution, told once by the agent that did it. */
  report(id: string, told: ReportDto, caller: Caller): Promise<Reply<ExecutionEnvelope>> {
    return this.append(id, caller, (execution, now) => {
      if (execution.runtime !== 'receipt' || execution.status !== 'executed') {
        throw new Problem('CONFLICT', 'Only what the agent does itself, and was allowed to do, can be reported on.');
      }
      if (execution.report) throw new Problem('CONFLICT', 'This execution has been reported on.');
      if (now.getTime() - execution.closedAt!.getTime() > REPORT_WINDOW_MS) {
        throw new Problem('CONFLICT', 'A report is taken for 24 hours after the licence was given.');
      }
      const said = {
        outcome: told.outcome,
        ...(told.output === undefined ? {} : { output: told.output }),
        ...(told.error === undefined ? {} : { error: told.error }),
        ...(told.durationMs === undefined ? {} : { durationMs: told.durationMs }),
      };
      return {
        next: { report: { ...said, at: now.toISOString() } },
        event: { type: 'execution.reported', capability: execution.capability, metadata: { executionId: id, ...flag(execution), ...said } },
      };
    });
  }

  /** What a person found out about an indeterminate execution. The closing entry stays as it is. */
  settle(id: string, found: SettleDto, caller: Caller): Promise<Reply<ExecutionEnvelope>> {
    return this.append(id, caller, (execution, now) => {
      if (execution.status !== 'indeterminate') throw new Problem('CONFLICT', 'Only an indeterminate execution can be settled.');
      if (execution.settlement) throw new Problem('CONFLICT', 'This execution has been settled.');
      const { outcome, note } = found;
      return {
        next: { settlement: { outcome, note, by: caller.actorId, at: now.toISOString() } },
        event: {
          type: 'execution.settled',
          capability: execution.capability,
          metadata: { executionId: id, outcome, note, ...flag(execution) },
        },
      };
    });
  }

  private async append(id: string, caller: Caller, tell: Tell): Promise<Reply<ExecutionEnvelope>> {
    const place = await this.executions.place(caller.scope, id);
    const chain = agentChain(place.organizationId, place.agentId);
    return this.work.run({ chains: [chain], leavesFacts: true, evenIfClosed: true }, async (tx) => {
      const execution = await this.executions.read(tx, place);
      const { next, event } = tell(execution, await tx.now());
      const told = { ...execution, ...next };
      await this.executions.move(tx, execution.status, told);
      tx.record(tx.chainNow(chain), event);
      return tx.reply(200, { execution: presentExecution(told) });
    });
  }
}

type Tell = (execution: ExecutionEntity, now: Date) => Told;
type Outcome = 'success' | 'failure';
type Said = { outcome: Outcome; output?: JsonValue; error?: JsonValue; durationMs?: number };
type Found = { executionId: string; outcome: Outcome; note: string; flagged?: boolean };

interface Told {
  next: { report?: JsonObject; settlement?: JsonObject };
  event:
    | { type: 'execution.reported'; capability: string; metadata: Said & { executionId: string; flagged?: boolean } }
    | { type: 'execution.settled'; capability: string; metadata: Found };
}

const flag = (execution: ExecutionEntity) => (execution.flagged ? { flagged: true } : {});
