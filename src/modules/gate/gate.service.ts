import { Injectable } from '@nestjs/common';
import { given } from '../../domain/given.js';
import { recordsNothing } from '../../platform/auth/access/call-context.js';
import type { Caller } from '../../platform/auth/access/principal.js';
import { isPassing } from '../../platform/http/reply/failure.js';
import { Problem } from '../../platform/http/reply/problem.js';
import { requestContext } from '../../platform/http/request/request-context.js';
import { type Reply, reply } from '../../platform/http/reply/replies.js';
import { Waiters } from '../../platform/wake/waiters.js';
import { LimitRoomQuery } from '../capabilities/limit-room.query.js';
import { HITL_TOPIC } from '../hitl/events/hitl-event.js';
import { HitlService } from '../hitl/hitl.service.js';
import type { AdmissionAnswer } from './admission/admission-item.js';
import { AdmissionService } from './admission/admission.service.js';
import type { Closed } from '../executions/closing/closing-events.js';
import type { ExecuteCall } from './admission/execute-call.js';
import { ExecutionAnswerService, INDETERMINATE, locationOf, REPLAYED } from './execution-answer.service.js';
import type { GateBlocked, GateExecuted, GateFailed, GatePending, GateReply } from './gate.dto.js';
import { RunExecutionService } from './execution/run-execution.service.js';

/** Runs what the gate lets through, and answers the caller with the gate's decision and the outcome. */
@Injectable()
export class GateService {
  constructor(
    private readonly admission: AdmissionService,
    private readonly running: RunExecutionService,
    private readonly answers: ExecutionAnswerService,
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
        return this.started(answer);
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
          : this.awaited(answer, wait, caller);
      case 'replay':
        return this.answers.replayed(answer.executionId, wait, caller);
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
    const execution = await this.answers.find(answer.executionId, caller);
    return reply(201, await this.hitl.envelope(execution.hitlRequestId!, {}, caller), REPLAYED);
  }

  private async started(answer: Of<'started'>): Promise<Reply<GateReply>> {
    let closed: Closed | undefined;
    let open = { code: 'SERVER_ENDED', why: 'This server ends, and the action goes on without it.' };
    try {
      closed = await this.running.run(answer.execution);
    } catch (error) {
      if (!isPassing(error)) throw error;
      open = { code: 'UNAVAILABLE', why: 'The action was begun, and what came of it could not be recorded while the database was away.' };
    }
    if (closed !== undefined) return reply(200, closedReply(answer, closed));
    const { executionId } = answer.execution;
    const error = { code: open.code, message: `${open.why} How it ends: GET /api/v1/executions/${executionId}.` };
    // By the key a repeated call finds this one. Without a key it would be a second one, so nothing may invite it.
    if (requestContext.getStore()?.idempotency) throw new Problem('UNAVAILABLE', error.message);
    return reply(200, closedReply(answer, { status: 'indeterminate', error }), locationOf(executionId));
  }

  /** Past the wait. An answer that says why a person is asked says how the limits stand, as the one without a wait does. */
  private async awaited(answer: Of<'pending'>, wait: number, caller: Caller): Promise<Reply<GateReply>> {
    const { status, body, headers } = await this.answers.awaited(answer.executionId, wait, caller);
    return reply(status, 'reasons' in body ? { ...body, ...(await this.whyOf(answer)) } : body, headers);
  }

  /** Which rules decided, and how the limits stand that the call goes past. */
  private async whyOf({ reasons, reached }: Of<'pending' | 'blocked' | 'dry_run'>): Promise<Pick<GateBlocked, 'reasons' | 'limits'>> {
    // The call is committed: what is said beside its answer must not turn the answer into a failure, which invites a second call.
    const limits = reached && (await this.room.statesOf(reached.organizationId, reached.grantId, reached.limits).catch(() => undefined));
    return { reasons: [...reasons], ...(limits ? { limits } : {}) };
  }
}

type Of<Kind extends AdmissionAnswer['kind']> = Extract<AdmissionAnswer, { kind: Kind }>;

function judged({ effectiveMode, flagged }: { effectiveMode: string; flagged: boolean }) {
  return { effectiveMode, flagged };
}

function pendingReply({ executionId, hitlRequestId, runs, expiresAt, ...answer }: Of<'pending'>): GatePending {
  return { status: 'pending_hitl', executionId, hitlRequestId, runs, expiresAt: expiresAt.toISOString(), ...judged(answer) };
}

/** An indeterminate execution is answered as failed, with an error that says that it may have acted. */
function closedReply(answer: Of<'started'>, closed: Partial<Closed> & Pick<Closed, 'status'>): GateReply {
  const { status, auditId, durationMs, output, error } = closed;
  return {
    status: status === 'executed' ? 'executed' : 'failed',
    executionId: answer.execution.executionId,
    runs: 'service',
    ...given({ auditId, durationMs }),
    ...(output === undefined ? {} : { output }),
    ...(error === undefined ? {} : { error: { ...error } }),
    ...(status === 'indeterminate' ? INDETERMINATE : {}),
    ...judged(answer),
  } as GateExecuted | GateFailed;
}

function refusal({ code, detail, errors }: Of<'refused'>): Problem {
  return new Problem(code, detail, errors ? { errors: [...errors] } : {});
}
