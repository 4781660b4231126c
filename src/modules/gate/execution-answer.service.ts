import { Injectable } from '@nestjs/common';
import type { JsonObject } from '../../domain/json.js';
import { recordsNothing } from '../../platform/auth/access/call-context.js';
import type { Caller } from '../../platform/auth/access/principal.js';
import { Problem } from '../../platform/http/reply/problem.js';
import { type Reply, reply } from '../../platform/http/reply/replies.js';
import { Waiters } from '../../platform/wake/waiters.js';
import { runsBy } from '../executions/choose-runtime.js';
import { type ExecutionEntity, isFinalExecution } from '../executions/execution.entity.js';
import { DO_NOT_REPEAT, type EditReply, outcomeOf } from '../executions/executions.presenter.js';
import { ExecutionsQuery } from '../executions/executions.query.js';
import { HitlRequestsQuery } from '../hitl/requests/hitl-requests.query.js';
import type { GateExecuted, GateReply } from './gate.dto.js';

export const REPLAYED = { 'Idempotent-Replayed': 'true' };
/** Beside the answer `failed`, where the action may have been done. */
export const INDETERMINATE = { indeterminate: true, detail: DO_NOT_REPEAT };
/** Of executions in these states the caller is told which rules decided. */
const WITH_REASONS: ReadonlySet<string> = new Set(['pending_hitl', 'blocked']);

/** Where the agent finds the outcome; with `?wait=` that answer waits for it. */
export const locationOf = (executionId: string) => ({ Location: `/api/v1/executions/${executionId}` });

/** The gate's answer about an execution that is there, from its present row: after a wait, and to a repeated call. */
@Injectable()
export class ExecutionAnswerService {
  constructor(
    private readonly executions: ExecutionsQuery,
    private readonly requests: HitlRequestsQuery,
    private readonly waiters: Waiters,
  ) {}

  /** The answer once the execution is final, or as it is after so many seconds. */
  async awaited(executionId: string, wait: number, caller: Caller): Promise<Reply<GateReply>> {
    const read = () => this.executions.find(caller.scope, executionId);
    const execution = await this.waiters.until(executionId, caller, wait, read, isFinalExecution);
    return this.shown(execution!, caller);
  }

  /**
   * The first answer again, from the present row of the execution: a call that waited for a person may have run since. A repeated call
   * waits as the first one does.
   */
  async replayed(executionId: string, wait: number, caller: Caller): Promise<Reply<GateReply>> {
    recordsNothing();
    const execution = await this.waiters.until(executionId, caller, wait, () => this.find(executionId, caller), isFinalExecution);
    if (execution.status === 'running') {
      throw new Problem('IDEMPOTENCY_IN_FLIGHT', 'The first call with this key is still running.', { headers: { 'Retry-After': '1' } });
    }
    const { status, body, headers } = await this.shown(execution, caller);
    return reply(status, body, { ...headers, ...REPLAYED });
  }

  /** What each form of the answer has, the row of that status has too: which, the columns' types do not say. */
  private async shown(row: ExecutionEntity, caller: Caller): Promise<Reply<GateReply>> {
    const common = {
      executionId: row.id, effectiveMode: row.effectiveMode, flagged: row.flagged,
      ...(row.status === 'blocked' ? {} : { runs: runsBy(row.runtime) }),
      ...(WITH_REASONS.has(row.status) ? { reasons: row.reasons.map(({ rule, detail }) => ({ rule, detail })) } : {}),
      ...(row.auditId === null ? {} : { auditId: row.auditId }),
      ...editOf(row),
      ...outcomeOf(row),
    };
    const request = row.hitlRequestId === null ? undefined : await this.requests.find(caller.scope, row.hitlRequestId);
    const asked = request ? { hitlRequestId: request.id, ...(request.note === null ? {} : { comment: request.note }) } : {};
    switch (row.status) {
      case 'pending_hitl':
      case 'running':
        return reply(202, {
          status: 'pending_hitl', ...common, ...asked, ...(request ? { expiresAt: request.expiresAt.toISOString() } : {}),
        } as GateReply, locationOf(row.id));
      case 'indeterminate':
        return reply(200, { status: 'failed', ...common, ...asked, ...INDETERMINATE } as GateReply);
      default:
        return reply(200, { status: row.status, ...common, ...asked } as GateReply);
    }
  }

  async find(executionId: string, caller: Caller): Promise<ExecutionEntity> {
    const execution = await this.executions.find(caller.scope, executionId);
    if (!execution) throw new Problem('NOT_FOUND', 'There is no such execution.');
    return execution;
  }
}

/** Where a reviewer edited the action, the agent is shown the input that ran. */
function editOf({ input, edit }: ExecutionEntity): Pick<GateExecuted, 'input' | 'edit'> {
  return edit === null ? {} : { input: JSON.parse(input) as JsonObject, edit: edit as unknown as EditReply };
}
