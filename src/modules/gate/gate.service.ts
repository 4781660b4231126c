import { Injectable } from '@nestjs/common';
import { given } from '../../domain/given.js';
import type { JsonObject } from '../../domain/json.js';
import { recordsNothing } from '../../platform/auth/access/call-context.js';
import type { Caller } from '../../platform/auth/access/principal.js';
import { Problem } from '../../platform/http/reply/problem.js';
import { type Reply, reply } from '../../platform/http/reply/replies.js';
import { Waiters } from '../../platform/wake/waiters.js';
import { LimitRoomQuery } from '../capabilities/limit-room.query.js';
import type { ExecutionEntity } from '../executions/execution.entity.js';
import { runsBy } from '../executions/choose-runtime.js';
import { isFinalExecution } from '../executions/execution.entity.js';
import { DO_NOT_REPEAT, type EditReply, outcomeOf } from '../executions/executions.presenter.js';
import { ExecutionsQuery } from '../executions/executions.query.js';
import { HITL_TOPIC } from '../hitl/events/hitl-event.js';
import { HitlRequestsQuery } from '../hitl/requests/hitl-requests.query.js';
import { HitlService } from '../hitl/hitl.service.js';
import type { AdmissionAnswer } from './admission/admission-item.js';
import { AdmissionService } from './admission/admission.service.js';
import type { Closed } from './execution/close-execution.service.js';
import type { ExecuteCall } from './admission/execute-call.js';
import type { GateReply } from './gate.dto.js';
import { RunExecutionService } from './execution/run-execution.service.js';

const REPLAYED = { 'Idempotent-Replayed': 'true' };
const INDETERMINATE = { indeterminate: true, detail: DO_NOT_REPEAT };
/** Of executions in these states the caller is told which rules decided. */
const WITH_REASONS: ReadonlySet<string> = new Set(['pending_hitl', 'blocked']);

/** Runs what the gate lets through, and answers the caller with the gate's decision and the outcome. */
@Injectable()
export class GateService {
  constructor(
    private readonly admission: AdmissionService,
    private readonly running: RunExecutionService,
    private readonly executions: ExecutionsQuery,
    private readonly requests: HitlRequestsQuery,
    private readonly hitl: HitlService,
    private readonly waiters: Waiters,
    private readonly room: LimitRoomQuery,
  ) {}

  async execute(call: ExecuteCall, wait: number, caller: Caller): Promise<Reply<GateReply>> {
    const answer = await this.admission.admit(call, caller, 'execute');
    switch (answer.kind) {
      case 'executed':
        return reply(200, {
          status: 'executed', executionId: answer.executionId, auditId: answer.auditId, durationMs: answer.durationMs, runs: 'caller',
          ...judged(answer),
        });
      case 'started':
        return reply(200, closedReply(answer, await this.running.run(answer.execution)));
      case 'blocked':
        return reply(200, {
          status: 'blocked', executionId: answer.executionId, auditId: answer.auditId, reason: answer.reason, ...judged(answer),
          ...(await this.whyOf(answer)),
        });
      case 'dry_run': {
        recordsNothing();
        const { decision, effectiveMode, runs, flagged } = answer;
        const why = await this.whyOf(answer);
        return reply(200, { status: 'dry_run', decision, ...given({ effectiveMode, runs }), ...why, flagged });
      }
      case 'pending':
        this.waiters.wake(HITL_TOPIC);
        return wait === 0
          ? reply(202, { ...pendingReply(answer), ...(await this.whyOf(answer)) }, locationOf(answer.executionId))
          : this.awaited(answer.executionId, wait, caller);
      case 'replay':
        return this.replayed(answer.executionId, caller);
      case 'refused':
        throw refusal(answer);
    }
  }

  /** For adapters that do the action themselves: a request to a person, whatever milder mode the grant has. */
  async request(call: ExecuteCall, caller: Caller): Promise<Reply<unknown>> {
    const answer = await this.admission.admit(call, caller, 'request');
    if (answer.kind === 'pending') {
      this.waiters.wake(HITL_TOPIC);
      return reply(201, await this.hitl.envelope(answer.hitlRequestId, {}, caller));
    }
    if (answer.kind === 'refused') throw refusal(answer);
    if (answer.kind !== 'replay') throw new Error(`a request was answered with ${answer.kind}`);
    recordsNothing();
    const execution = await this.find(answer.executionId, caller);
    return reply(201, await this.hitl.envelope(execution.hitlRequestId!, {}, caller), REPLAYED);
  }

  /** Which rules decided, and how the limits stand that the call goes past. */
  private async whyOf({ reasons, reached }: Of<'pending' | 'blocked' | 'dry_run'>): Promise<Pick<GateReply, 'reasons' | 'limits'>> {
    const limits = reached && (await this.room.states(reached.organizationId, reached.grantId, reached.limits));
    return { reasons: [...reasons], ...(limits ? { limits } : {}) };
  }

  private async awaited(executionId: string, wait: number, caller: Caller): Promise<Reply<GateReply>> {
    const read = () => this.executions.find(caller.scope, executionId);
    const execution = await this.waiters.until(executionId, caller, wait, read, isFinalExecution);
    return this.shown(execution!, caller);
  }

  /** The first answer again, from the present row of the execution: a call that waited for a person may have run since. */
  private async replayed(executionId: string, caller: Caller): Promise<Reply<GateReply>> {
    recordsNothing();
    const execution = await this.find(executionId, caller);
    if (execution.status === 'running') {
      throw new Problem('IDEMPOTENCY_IN_FLIGHT', 'The first call with this key is still running.', { headers: { 'Retry-After': '1' } });
    }
    const { status, body, headers } = await this.shown(execution, caller);
    return reply(status, body, { ...headers, ...REPLAYED });
  }

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
        }, locationOf(row.id));
      case 'indeterminate':
        return reply(200, { status: 'failed', ...common, ...asked, ...INDETERMINATE });
      default:
        return reply(200, { status: row.status, ...common, ...asked });
    }
  }

  private async find(executionId: string, caller: Caller): Promise<ExecutionEntity> {
    const execution = await this.executions.find(caller.scope, executionId);
    if (!execution) throw new Problem('NOT_FOUND', 'There is no such execution.');
    return execution;
  }
}

/** Where a reviewer edited the action, the agent is shown the input that ran. */
function editOf({ input, edit }: ExecutionEntity): Pick<GateReply, 'input' | 'edit'> {
  return edit === null ? {} : { input: JSON.parse(input) as JsonObject, edit: edit as unknown as EditReply };
}

/** Where the agent finds the outcome; with `?wait=` that answer waits for it. */
const locationOf = (executionId: string) => ({ Location: `/api/v1/executions/${executionId}` });

type Of<Kind extends AdmissionAnswer['kind']> = Extract<AdmissionAnswer, { kind: Kind }>;

function judged({ effectiveMode, flagged }: { effectiveMode: string; flagged: boolean }) {
  return { effectiveMode, flagged };
}

function pendingReply({ executionId, hitlRequestId, runs, expiresAt, ...answer }: Of<'pending'>): GateReply {
  return { status: 'pending_hitl', executionId, hitlRequestId, runs, expiresAt: expiresAt.toISOString(), ...judged(answer) };
}

/** An indeterminate execution is answered as failed, with an error that says that it may have acted. */
function closedReply(answer: Of<'started'>, closed: Closed): GateReply {
  const { status, auditId, durationMs, output, error } = closed;
  return {
    status: status === 'executed' ? 'executed' : 'failed',
    executionId: answer.execution.executionId,
    runs: 'service',
    auditId,
    durationMs,
    ...(output === undefined ? {} : { output }),
    ...(error === undefined ? {} : { error: { ...error } }),
    ...(status === 'indeterminate' ? INDETERMINATE : {}),
    ...judged(answer),
  };
}

function refusal({ code, detail, errors }: Of<'refused'>): Problem {
  return new Problem(code, detail, errors ? { errors: [...errors] } : {});
}
