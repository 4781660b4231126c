import { Injectable } from '@nestjs/common';
import { basisOf } from '../../../domain/audit/catalogue/basis.js';
import { appliedAction, isOpen } from '../../../domain/hitl/transition.js';
import type { Tx } from '../../../platform/database/transaction/tx.js';
import { type Facts, FactsQuery, isLimited } from '../../authority/facts.query.js';
import { GrantUsageStore } from '../../capabilities/grant-usage.store.js';
import type { StopRefusal } from '../requests/stopped.js';
import type { HitlRequestEntity } from '../requests/hitl-request.entity.js';
import { ReceiptExecutionService } from '../requests/receipt-execution.service.js';
import { type AppliedTransition, ApplyTransitionService, stateOf, type RequestedTransition } from '../requests/apply-transition.service.js';
import type { Refused } from '../../../domain/hitl/transition.js';
import { ESCALATION_NEEDED, failedPrecondition, QUORUM_NEEDED } from '../decisions/approval-precondition.js';

export type Outcome = AppliedTransition | Refused | StopRefusal;

/**
 * Ends requests by time, each by the action of its grant. In the caller's unit of work, which has read them under their agents'
 * heads. An approval by time asks the gate anew, as a person's does, and is carried out like one.
 */
@Injectable()
export class TimeOutService {
  constructor(
    private readonly facts: FactsQuery,
    private readonly usage: GrantUsageStore,
    private readonly moving: ApplyTransitionService,
    private readonly licences: ReceiptExecutionService,
  ) {}

  /**
   * @param trigger `window`: those whose time is over; `manual`: an administrator's hand, before that too
   * @param actorId who pulled the trigger
   * @returns what became of each, in their order
   */
  async timeOutAll(
    tx: Tx, found: readonly HitlRequestEntity[], trigger: 'window' | 'manual', actorId: string,
  ): Promise<Outcome[]> {
    const now = await tx.now();
    const outcomes = new Map<string, Outcome>();
    const due: HitlRequestEntity[] = [];
    for (const request of found) {
      // By one clock for all that is asked below: what becomes due meanwhile would be approved without having been asked about.
      if (trigger === 'window' && request.expiresAt > now) outcomes.set(request.id, { kind: 'refused', code: 'NOT_DUE' });
      else due.push(request);
    }
    const approving = due.filter((one) => isOpen(one.status) && appliedAction(stateOf(one), trigger) === 'approve');
    const facts = await this.factsOf(tx, approving);
    if (approving.length > 0) await this.holdUsage(tx, due, [...facts.values()]);
    const isAlone = ({ id }: HitlRequestEntity) => facts.has(id) && isLimited(facts.get(id)!);
    await this.end(tx, due.filter((one) => !isAlone(one)), facts, { trigger, actorId, now }, outcomes);
    // What one leaves of a limit, the next is compared with: one after the other, as if each came alone.
    for (const request of due.filter(isAlone)) {
      const ownFacts = await this.facts.readWithin(tx, wantedOf(request), request.executionId);
      await this.end(tx, [request], new Map([[request.id, ownFacts]]), { trigger, actorId }, outcomes);
    }
    return found.map(({ id }) => outcomes.get(id)!);
  }

  private async end(
    tx: Tx, requests: readonly HitlRequestEntity[], facts: ReadonlyMap<string, Facts>,
    by: { trigger: 'window' | 'manual'; actorId: string; now?: Date }, outcomes: Map<string, Outcome>,
  ): Promise<void> {
    const wanted: RequestedTransition[] = [];
    for (const request of requests) {
      const stops = facts.get(request.id)?.stops ?? [];
      if (stops.length > 0) outcomes.set(request.id, { kind: 'refused', code: 'STOPPED', stops });
      else wanted.push({ found: request, actorId: by.actorId, ...commandFor(request, facts.get(request.id), by.trigger) });
    }
    const moved = await this.moving.moveAll(tx, wanted, by.now && { now: by.now });
    for (const [i, { found }] of wanted.entries()) {
      const outcome = moved[i]!;
      outcomes.set(found.id, outcome);
      if ('accepted' in outcome && outcome.accepted.action === 'approve') {
        await this.licences.carryOut(tx, outcome.request, facts.get(found.id)!, 'system');
      }
    }
  }

  private async factsOf(tx: Tx, requests: readonly HitlRequestEntity[]): Promise<Map<string, Facts>> {
    if (requests.length === 0) return new Map();
    const facts = await this.facts.readAllWithin(tx, requests.map(wantedOf));
    return new Map(requests.map(({ id }, i) => [id, facts[i]!]));
  }

  /** Everything that giving back and beginning will lock, before the first of them does. */
  private async holdUsage(tx: Tx, requests: readonly HitlRequestEntity[], facts: readonly Facts[]): Promise<void> {
    const grants = facts.flatMap((one) => (isLimited(one) ? [one.grant.id] : []));
    for (const organizationId of [...new Set(requests.map((one) => one.organizationId))].sort()) {
      const executions = requests.filter((one) => one.organizationId === organizationId).map(({ executionId }) => executionId);
      await this.usage.hold(tx, organizationId, executions, grants);
    }
  }
}

/** Facts are there where time would approve: then what stands against it, or whom it needs by now, decides. */
function commandFor(
  request: HitlRequestEntity, facts: Facts | undefined, trigger: 'window' | 'manual',
): Pick<RequestedTransition, 'command' | 'cause' | 'record'> {
  const obstacle = facts && failedPrecondition(request, facts, null);
  const record = facts && { record: { basis: basisOf(facts) } };
  if (obstacle?.code === ESCALATION_NEEDED) return { command: { kind: 'timeout', trigger, approvalNeeds: 'admin' }, ...record };
  if (obstacle && obstacle.code !== QUORUM_NEEDED) {
    return { command: { kind: 'cancel', by: 'system' }, cause: obstacle.code, ...record };
  }
  // The stricter of then and now: what the grant no longer lets time approve, people have to.
  const needsPeople = facts !== undefined && (facts.grant?.quorum !== undefined || facts.grant?.timeoutAction !== 'approve');
  return { command: { kind: 'timeout', trigger, ...(needsPeople ? { approvalNeeds: 'people' } : {}) }, ...record };
}

const wantedOf = ({ organizationId, agentId, capability }: HitlRequestEntity) => ({ organizationId, agentId, capability });
