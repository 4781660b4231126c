import { Injectable } from '@nestjs/common';
import { agentChain } from '../../../domain/audit/entry/chain.js';
import type { ProblemCode } from '../../../domain/problems.js';
import type { JsonObject } from '../../../domain/json.js';
import type { Caller } from '../../../platform/auth/access/principal.js';
import { CallerCheck } from '../../../platform/auth/credentials/caller-check.js';
import { UnitOfWork } from '../../../platform/database/transaction/unit-of-work.js';
import { Problem } from '../../../platform/http/reply/problem.js';
import { LimitRoomQuery } from '../../capabilities/limit-room.query.js';
import type { ExecuteCall } from '../../gate/admission/execute-call.js';
import type { AdmissionAnswer } from '../../gate/admission/admission-item.js';
import { AdmissionService } from '../../gate/admission/admission.service.js';
import type { ScannedCallBody } from '../scan/scan-call.service.js';
import { detectedEvents } from './llm-events.js';
import { NO_RETRY } from './model-request.js';

/** What of the gate's answer says why. */
type Blocked = Pick<Extract<AdmissionAnswer, { kind: 'dry_run' }>, 'byLimits' | 'reached'>
  & { readonly reason: string | undefined; readonly executionId?: string };

const UNASKED = 'People decide over calls of this agent before anything is sent, and nobody is asked about a count of tokens.';

/** Calls that end before the gate's commit, which would have judged their callers. */
@Injectable()
export class EarlyRefusal {
  constructor(
    private readonly gate: AdmissionService,
    private readonly callers: CallerCheck,
    private readonly work: UnitOfWork,
    private readonly room: LimitRoomQuery,
  ) {}

  /** Does what stands before the commit. Where that refuses the call, its caller is judged first. */
  async judgedFirst<Result>(caller: Caller, work: () => Result | Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      await this.callers.judge(caller);
      throw error;
    }
  }

  /** @throws Problem UNAUTHENTICATED, AGENT_INACTIVE */
  judge(caller: Caller): Promise<void> {
    return this.callers.judge(caller);
  }

  /** Whether the gate would let the call run at once. No answer is none. */
  async wouldRun(call: ExecuteCall, caller: Caller): Promise<boolean> {
    const asked = await this.gate.admit({ ...call, dryRun: true }, caller, 'execute').catch(() => undefined);
    return asked?.kind === 'dry_run' && asked.decision === 'run';
  }

  /**
   * Asks the gate, and makes nothing of its answer.
   * @param asking false: nobody will be asked, so that what people would have to decide may not be sent
   * @throws Problem where it refuses or blocks
   */
  async assertMayCall(call: ExecuteCall, caller: Caller, { asking = true } = {}): Promise<void> {
    const asked = await this.gate.admit({ ...call, dryRun: true }, caller, 'execute');
    if (asked.kind === 'refused') throw new Problem(asked.code, asked.detail);
    if (asked.kind !== 'dry_run' || asked.decision === 'run' || (asking && asked.decision === 'ask')) return;
    const reason = asked.reasons.at(-1)?.detail;
    if (asked.decision === 'ask') throw new Problem('CAPABILITY_BLOCKED', UNASKED);
    if (asked.decision === 'block') throw await this.blocked({ ...asked, reason });
    throw new Problem(asked.decision as ProblemCode, reason);
  }

  /** A block by a limit alone passes by itself, or with a higher limit. */
  async blocked({ byLimits, reached, executionId, reason }: Blocked): Promise<Problem> {
    const which: JsonObject = executionId === undefined ? {} : { executionId };
    if (byLimits !== true) return new Problem('CAPABILITY_BLOCKED', `${reason}.`, { members: which });
    const limits = reached ? await this.room.statesOf(reached.organizationId, reached.grantId, reached.limits).catch(() => []) : [];
    const wait = limits.flatMap(({ retryAfter }) => retryAfter ?? []);
    const frees = wait.length === limits.length && wait.length > 0;
    const headers = { ...NO_RETRY, ...(frees ? { 'Retry-After': String(Math.max(...wait)) } : {}) };
    const members = { ...which, limits: limits as unknown as JsonObject[] };
    return new Problem('BUDGET_EXHAUSTED', 'A limit of the grant leaves no room for this call.', { members, headers });
  }

  /** Of what the organization's settings block, whoever might have made the call is told, and the log. */
  async piiBlocked(call: ExecuteCall, model: string, scan: ScannedCallBody, caller: Caller): Promise<never> {
    await this.assertMayCall(call, caller);
    const { principal } = caller;
    if (principal.kind !== 'agent') throw piiBlocked(scan);
    const chain = agentChain(principal.organizationId, principal.agentId);
    await this.work.run({ chains: [chain], leavesFacts: true }, async (tx) => {
      for (const event of detectedEvents(model, scan)) tx.record(chain, event);
    });
    throw piiBlocked(scan);
  }
}

export function piiBlocked({ counts }: Pick<ScannedCallBody, 'counts'>): Problem {
  const types = Object.keys(counts).sort();
  return new Problem('PII_BLOCKED', `The call holds personal data (${types.join(', ')}); nothing was sent.`, { members: { types } });
}
