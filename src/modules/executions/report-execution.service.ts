import { Injectable } from '@nestjs/common';
import { agentChain } from '../../domain/audit/entry/chain.js';
import type { JsonObject, JsonValue } from '../../domain/json.js';
import type { Caller } from '../../platform/auth/access/principal.js';
import { UnitOfWork } from '../../platform/database/transaction/unit-of-work.js';
import { Problem } from '../../platform/http/reply/problem.js';
import type { Reply } from '../../platform/http/reply/replies.js';
import type { ExecutionEntity } from './execution.entity.js';
import { ExecutionStore } from './execution.store.js';
import type { Outcome, ReportDto, SettleDto } from './executions.dto.js';
import { type ExecutionEnvelope, presentExecution } from './executions.presenter.js';

const REPORT_WINDOW_MS = 24 * 3_600_000;

/** Reports of agents and settlements of people about executions, always kept apart from what the service saw itself. */
@Injectable()
export class ReportExecutionService {
  constructor(
    private readonly work: UnitOfWork,
    private readonly executions: ExecutionStore,
  ) {}

  /** Takes the agent's report about a receipt-only execution, once. */
  report(id: string, dto: ReportDto, caller: Caller): Promise<Reply<ExecutionEnvelope>> {
    return this.append(id, caller, (execution, now) => {
      if (execution.runtime !== 'receipt' || execution.status !== 'executed') {
        throw new Problem('CONFLICT', 'Only what the agent does itself, and was allowed to do, can be reported on.');
      }
      if (execution.report) throw new Problem('CONFLICT', 'This execution has been reported on.');
      if (now.getTime() - execution.closedAt!.getTime() > REPORT_WINDOW_MS) {
        throw new Problem('CONFLICT', 'A report is taken for 24 hours after the licence was given.');
      }
      const report = {
        outcome: dto.outcome,
        ...(dto.output === undefined ? {} : { output: dto.output }),
        ...(dto.error === undefined ? {} : { error: dto.error }),
        ...(dto.durationMs === undefined ? {} : { durationMs: dto.durationMs }),
      };
      return {
        next: { report: { ...report, at: now.toISOString() } },
        event: {
          type: 'execution.reported', capability: execution.capability, metadata: { executionId: id, ...flag(execution), ...report },
        },
      };
    });
  }

  /** Records what a person found out about an indeterminate execution. The closing entry stays as it is. */
  settle(id: string, dto: SettleDto, caller: Caller): Promise<Reply<ExecutionEnvelope>> {
    return this.append(id, caller, (execution, now) => {
      if (execution.status !== 'indeterminate') throw new Problem('CONFLICT', 'Only an indeterminate execution can be settled.');
      if (execution.settlement) throw new Problem('CONFLICT', 'This execution has been settled.');
      const { outcome, note } = dto;
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

  private async append(id: string, caller: Caller, statementOn: StatementOn): Promise<Reply<ExecutionEnvelope>> {
    const ref = await this.executions.findRef(caller.scope, id);
    const chain = agentChain(ref.organizationId, ref.agentId);
    return this.work.run({ chains: [chain], leavesFacts: true, evenIfClosed: true }, async (tx) => {
      const execution = await this.executions.read(tx, ref);
      const { next, event } = statementOn(execution, await tx.now());
      const updated = { ...execution, ...next };
      await this.executions.move(tx, execution.status, updated);
      tx.record(tx.chainNow(chain), event);
      return tx.reply(200, { execution: presentExecution(updated) });
    });
  }
}

type StatementOn = (execution: ExecutionEntity, now: Date) => Statement;
type ReportMetadata = { outcome: Outcome; output?: JsonValue; error?: JsonValue; durationMs?: number };
type SettlementMetadata = { executionId: string; outcome: Outcome; note: string; flagged?: boolean };

/** The columns to write, and the event to record. */
interface Statement {
  next: { report?: JsonObject; settlement?: JsonObject };
  event:
    | { type: 'execution.reported'; capability: string; metadata: ReportMetadata & { executionId: string; flagged?: boolean } }
    | { type: 'execution.settled'; capability: string; metadata: SettlementMetadata };
}

const flag = (execution: ExecutionEntity) => (execution.flagged ? { flagged: true } : {});
