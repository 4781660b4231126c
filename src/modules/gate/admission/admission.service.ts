import { Inject, Injectable } from '@nestjs/common';
import type { Logger } from 'pino';
import type { HitlMode } from '../../../domain/gate/vocabulary.js';
import { currentOrigin } from '../../../platform/auth/access/call-context.js';
import { CallerCheck } from '../../../platform/auth/credentials/caller-check.js';
import type { Caller } from '../../../platform/auth/access/principal.js';
import { Batcher } from '../../../platform/database/batching/batcher.js';
import { Problem } from '../../../platform/http/reply/problem.js';
import { invalid } from '../../../platform/http/fields/read-members.js';
import { requestContext } from '../../../platform/http/request/request-context.js';
import { LOGGER } from '../../../platform/logging/token.js';
import { Metrics } from '../../../platform/metrics/metrics.js';
import { AgentStore } from '../../agents/agent.store.js';
import { DefinitionStore } from '../../capabilities/definition.store.js';
import type { Admission, AdmissionAnswer, AdmissionItem } from './admission-item.js';
import { RHYTHM_MS } from './admission-plan.js';
import type { ExecuteCall } from './execute-call.js';
import { TracedBatch } from './traced-batch.js';

/** How long a call may wait for its batch and its locks before it is answered with 503, in milliseconds. */
const DECIDE_WITHIN_MS = 4_000;

/** Takes calls into the gate: makes each an item with its agent and a deadline, and hands the item to the agent's batch lane. */
@Injectable()
export class AdmissionService {
  private readonly batches: Batcher<AdmissionItem, AdmissionAnswer>;

  constructor(
    batch: TracedBatch,
    private readonly agents: AgentStore,
    private readonly callers: CallerCheck,
    private readonly definitions: DefinitionStore,
    @Inject(LOGGER) private readonly logger: Logger,
    private readonly metrics: Metrics,
  ) {
    this.batches = new Batcher({
      // One batch lane makes the largest batches, and most of a batch's cost is the same however many items it has: two batch lanes
      // took a third more of PostgreSQL's time for the same calls (docs/benchmarks.md).
      lanes: 1,
      largest: 128,
      longest: 5_000,
      rhythmMs: RHYTHM_MS,
      keyOf: (item: AdmissionItem) => item.agentId,
      process: (items: AdmissionItem[]) => batch.process(items),
    });
  }

  async admit(call: ExecuteCall, caller: Caller, admission: Admission): Promise<AdmissionAnswer> {
    const agent = await this.agentOf(call, caller);
    const context = requestContext.getStore();
    const origin = currentOrigin();
    const answer = await this.submit({
      admission,
      principal: caller.principal as AdmissionItem['principal'],
      actorId: caller.actorId,
      ...agent,
      ...call,
      deadline: new Date(Date.now() + DECIDE_WITHIN_MS),
      ...(origin ? { origin } : {}),
      ...(context?.idempotency && !call.dryRun ? { claim: context.idempotency } : {}),
      ...(context?.traceparent ? { traceparent: context.traceparent } : {}),
    });
    if (context && leavesAnEntry(answer)) context.recorded++;
    if (answer.kind === 'dry_run' && LACKS_IN_TOKEN.has(answer.decision)) return this.withNearestName(answer, call, agent.organizationId);
    if (answer.kind !== 'refused' || !LACKS_IN_TOKEN.has(answer.code)) return answer;
    this.logAttempt(call, agent.agentId, answer.code);
    return { ...answer, detail: (await this.whyUnknown(agent.organizationId, call.capability)) ?? answer.detail };
  }

  private async withNearestName(
    answer: Extract<AdmissionAnswer, { kind: 'dry_run' }>, { capability }: ExecuteCall, organizationId: string,
  ): Promise<AdmissionAnswer> {
    const detail = await this.whyUnknown(organizationId, capability);
    return detail === undefined ? answer : { ...answer, reasons: answer.reasons.map((reason) => ({ ...reason, detail })) };
  }

  /** A misspelt name lacks its grant, too, and to be told so would lead astray. Said in the answer alone: entries keep what was decided. */
  private whyUnknown(organizationId: string, capability: string): Promise<string | undefined> {
    return this.definitions.whyUnknown(organizationId, capability).catch(() => undefined);
  }

  drained(): Promise<void> {
    return this.batches.drained();
  }

  /** A credential that the commit refused is a failed authentication like one that the guard refused. */
  private async submit(item: AdmissionItem): Promise<AdmissionAnswer> {
    try {
      const answer = await this.batches.submit(item);
      this.count(answer.kind, 'effectiveMode' in answer ? answer.effectiveMode : undefined);
      return answer;
    } catch (error) {
      this.count('error');
      if (error instanceof Problem && error.code === 'UNAUTHENTICATED') await this.callers.refuse(item.principal, reasonOf(error));
      throw error;
    }
  }

  private count(outcome: AdmissionAnswer['kind'] | 'error', mode: HitlMode | 'none' = 'none'): void {
    this.metrics.count('countersign_gate_calls_total', { mode, outcome });
  }

  /** A capability that a token lacks leaves no audit entry (interface, section 6), but a line in the security log. */
  private logAttempt({ capability }: ExecuteCall, agentId: string, code: string): void {
    this.logger.warn({ security: 'capability_refused', agentId, capability, code }, 'a capability was refused');
  }

  /** An agent acts for itself. Root says for which agent, and so do administrators, who may only ask what the gate would do. */
  private async agentOf(call: ExecuteCall, caller: Caller): Promise<Pick<AdmissionItem, 'organizationId' | 'agentId' | 'agentKeyId'>> {
    const { principal, scope } = caller;
    if (principal.kind === 'agent') {
      if (call.forAgentId !== undefined && call.forAgentId !== principal.agentId) {
        // This call never reaches the commit, which judges its token: a caller whose token is dead learns nothing but that.
        await this.callers.judge(caller);
        throw new Problem('FORBIDDEN', 'An agent acts for itself; leave agentId out.');
      }
      const { organizationId, agentId, keyId } = principal;
      return { organizationId, agentId, ...(keyId === undefined ? {} : { agentKeyId: keyId }) };
    }
    if (principal.kind === 'user' && !call.dryRun) {
      throw new Problem('FORBIDDEN', 'Agents act, by their own credential. People may ask what the gate would do: send "dryRun": true.');
    }
    if (call.forAgentId === undefined) {
      throw invalid([{ pointer: '/agentId', message: 'is required unless the caller is an agent: the agent that acts' }]);
    }
    const { organizationId, id } = await this.agents.findRef(scope, call.forAgentId);
    return { organizationId, agentId: id };
  }
}

const reasonOf = (refused: Problem) => refused.message.replace(/^This credential does not hold: |\.$/g, '');

const LACKS_IN_TOKEN: ReadonlySet<string> = new Set(['CAPABILITY_NOT_GRANTED', 'CAPABILITY_NOT_IN_TOKEN']);

function leavesAnEntry(answer: AdmissionAnswer): boolean {
  return answer.kind !== 'dry_run' && answer.kind !== 'replay' && answer.kind !== 'refused';
}
