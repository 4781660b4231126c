import { Injectable } from '@nestjs/common';
import { basisOf } from '../../../domain/audit/catalogue/basis.js';
import { appliedAction, isOpen } from '../../../domain/hitl/transition.js';
import type { Tx } from '../../../platform/database/transaction/tx.js';
import { type Facts, isLimited } from '../../authority/facts.js';
import { FactsQuery } from '../../authority/facts.query.js';
import { GrantUsageStore } from '../../capabilities/grant-usage.store.js';
import type { StopRefusal } from '../requests/refusals.js';
import type { HitlRequestEntity } from '../requests/hitl-request.entity.js';
import { ReceiptExecutionService } from '../requests/receipt-execution.service.js';
import { type AppliedTransition, ApplyTransitionService, stateOf, type RequestedTransition } from '../requests/apply-transition.service.js';
import type { Refused } from '../../../domain/hitl/transition.js';
import { ESCALATION_NEEDED, failedPrecondition, QUORUM_NEEDED } from '../decisions/approval-precondition.js';

export type Outcome = AppliedTransition | Refused | StopRefusal;

/**
 * Times requests out, each by the timeout action of its grant. In the caller's unit of work, which has read them under their agents'
 * heads. An approval by time asks the gate again, as a person's approval does, and is carried out alike.
 */
@Injectable()
export class TimeOutService {
  constructor(
    private readonly facts: FactsQuery,
    private readonly usage: GrantUsageStore,
    private readonly transitions: ApplyTransitionService,
    private readonly receipts: ReceiptExecutionService,
  ) {}

  /**
   * @param trigger `window`: the window has ended; `manual`: an administrator's call, also before its end
   * @param actorId who triggered the timeout
   * @returns the outcome of each, in their order
   */
  async timeOutAll(
    tx: Tx, found: readonly HitlRequestEntity[], trigger: 'window' | 'manual', actorId: string,
  ): Promise<Outcome[]> {
    const now = await tx.now();
    const outcomes = new Map<string, Outcome>();
    const due: HitlRequestEntity[] = [];
    for (const request of found) {
      // One instant for all checks below: a request that became due meanwhile would be approved without asking the gate.
      if (trigger === 'window' && request.expiresAt > now) outcomes.set(request.id, { kind: 'refused', code: 'NOT_DUE' });
      else due.push(request);
    }
    const approving = due.filter((one) => isOpen(one.status) && appliedAction(stateOf(one), trigger) === 'approve');
    const facts = await this.factsOf(tx, approving);
    if (approving.length > 0) await this.lockUsage(tx, due, [...facts.values()]);
    const isUnderLimits = ({ id }: HitlRequestEntity) => facts.has(id) && isLimited(facts.get(id)!);
    await this.applyTimeouts(tx, due.filter((one) => !isUnderLimits(one)), facts, { trigger, actorId, now }, outcomes);
    // Requests under limits go one after the other, so that each is compared with what the former left of the limit.
    for (const request of due.filter(isUnderLimits)) {
      const ownFacts = await this.facts.readWithin(tx, wantedOf(request), request.executionId);
      await this.applyTimeouts(tx, [request], new Map([[request.id, ownFacts]]), { trigger, actorId }, outcomes);
    }
    return found.map(({ id }) => outcomes.get(id)!);
  }

  private async applyTimeouts(
    tx: Tx, requests: readonly HitlRequestEntity[], facts: ReadonlyMap<string, Facts>,
    by: { trigger: 'window' | 'manual'; actorId: string; now?: Date }, outcomes: Map<string, Outcome>,
  ): Promise<void> {
    const wanted: RequestedTransition[] = [];
    for (const request of requests) {
      const stops = facts.get(request.id)?.stops ?? [];
      if (stops.length > 0) outcomes.set(request.id, { kind: 'refused', code: 'STOPPED', stops });
      else wanted.push({ request: request, actorId: by.actorId, ...commandFor(request, facts.get(request.id), by.trigger) });
    }
    const moved = await this.transitions.applyAll(tx, wanted, by.now && { now: by.now });
    for (const [i, { request }] of wanted.entries()) {
      const outcome = moved[i]!;
      outcomes.set(request.id, outcome);
      if ('accepted' in outcome && outcome.accepted.action === 'approve') {
        await this.receipts.carryOut(tx, outcome.request, facts.get(request.id)!, 'system');
      }
    }
  }

  private async factsOf(tx: Tx, requests: readonly HitlRequestEntity[]): Promise<Map<string, Facts>> {
    if (requests.length === 0) return new Map();
    const facts = await this.facts.readAllWithin(tx, requests.map(wantedOf));
    return new Map(requests.map(({ id }, i) => [id, facts[i]!]));
  }

  /** Locks all usage rows that giving back and beginning will change, before the first change. */
  private async lockUsage(tx: Tx, requests: readonly HitlRequestEntity[], facts: readonly Facts[]): Promise<void> {
    const grants = facts.flatMap((one) => (isLimited(one) ? [one.grant.id] : []));
    for (const organizationId of [...new Set(requests.map((one) => one.organizationId))].sort()) {
      const executions = requests.filter((one) => one.organizationId === organizationId).map(({ executionId }) => executionId);
      await this.usage.lockCounting(tx, organizationId, executions, grants);
    }
  }
}

/** The command of a timeout. Facts are given where time would approve: an approval that fails its precondition becomes another command. */
function commandFor(
  request: HitlRequestEntity, facts: Facts | undefined, trigger: 'window' | 'manual',
): Pick<RequestedTransition, 'command' | 'cause' | 'record'> {
  const failed = facts && failedPrecondition(request, facts, null);
  const record = facts && { record: { basis: basisOf(facts) } };
  if (failed?.code === ESCALATION_NEEDED) return { command: { kind: 'timeout', trigger, approvalNeeds: 'admin' }, ...record };
  if (failed && failed.code !== QUORUM_NEEDED) {
    return { command: { kind: 'cancel', by: 'system' }, cause: failed.code, ...record };
  }
  // The stricter of the former and the present terms: where the grant no longer lets time approve, people have to.
  const needsPeople = facts !== undefined && (facts.grant?.quorum !== undefined || facts.grant?.timeoutAction !== 'approve');
  return { command: { kind: 'timeout', trigger, ...(needsPeople ? { approvalNeeds: 'people' } : {}) }, ...record };
}

const wantedOf = ({ organizationId, agentId, capability }: HitlRequestEntity) => ({ organizationId, agentId, capability });
