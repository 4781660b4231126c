import { Inject, Injectable } from '@nestjs/common';
import type { GateCall, GrantFacts } from '../../../domain/gate/decide.js';
import { addAmounts, measureOf, type UsedUp } from '../../../domain/gate/limits.js';
import { AnchorFreshness } from '../../../platform/audit/anchor-freshness.js';
import { CONFIG, type CompleteConfig } from '../../../platform/config/config.js';
import type { ItemOutcome } from '../../../platform/database/batching/batcher.js';
import { assertSameBody } from '../../../platform/database/transaction/idempotency.js';
import { clockSkewProblem } from '../../../platform/database/transaction/clock-skew.js';
import { Statements } from '../../../platform/database/statements/statements.js';
import { isConnectionError, isPassing } from '../../../platform/http/reply/failure.js';
import { Problem } from '../../../platform/http/reply/problem.js';
import { DEAD_KEY, whyCredentialDied } from '../../agents/tokens/credential-life.js';
import type { Facts } from '../../authority/facts.js';
import { decideByFacts, grantUses } from '../../authority/decide-by-facts.js';
import { FactsQuery } from '../../authority/facts.query.js';
import { RecentFacts } from '../../authority/recent-facts.js';
import type { AdmissionAnswer, AdmissionItem } from './admission-item.js';
import { type AdmissionPlan, planAdmission } from './admission-plan.js';
import { COMMIT, type CommitAnswer, commitParameters, type PlannedItem } from './commit-statement.js';
import { CommittedSignals } from './committed-signals.js';
import { DelayedCalls } from './delayed-calls.js';
import { UnknownCommits } from './unknown-commits.query.js';

type Outcome = ItemOutcome<AdmissionAnswer>;
interface Planned extends PlannedItem {
  readonly index: number;
}

const AGAIN: Outcome = { kind: 'again', afterMs: 0 };

/**
 * A batch of calls through the gate: read the facts in one statement without locks (or take those of a moment ago), decide
 * each in TypeScript outside of any transaction, then one call that locks, compares the facts that the decisions rested on, and
 * writes the decisions whose facts are unchanged.
 */
@Injectable()
export class AdmissionBatch {
  private readonly recent = new RecentFacts();
  private readonly delayed = new DelayedCalls();

  constructor(
    private readonly statements: Statements,
    private readonly facts: FactsQuery,
    private readonly unknownCommits: UnknownCommits,
    private readonly freshness: AnchorFreshness,
    private readonly signals: CommittedSignals,
    @Inject(CONFIG) private readonly config: CompleteConfig,
  ) {}

  /** @param committing told which items are decided, and about to be committed together */
  async process(items: AdmissionItem[], committing?: (decided: readonly AdmissionItem[]) => void): Promise<Outcome[]> {
    const outcomes: Outcome[] = new Array<Outcome>(items.length);
    const planned: Planned[] = [];
    const soFar = new DecidedSoFar();
    const unread: number[] = [];
    items.forEach((item, index) => {
      const facts = item.taskId === undefined ? this.recent.find(item) : undefined;
      const plan = facts && this.judge(item, facts, soFar);
      // The commit compares the facts of the plan with the present ones, so facts from a moment ago will do. An answer that
      // nothing commits is given from fresh facts.
      if (plan && !('kind' in plan) && isCommitted(plan)) planned.push({ index, item, facts, plan });
      else unread.push(index);
    });
    if (unread.length > 0) {
      const wanted = unread.map((index) => items[index]!);
      const read = await this.readFacts(wanted);
      wanted.forEach((item, n) => {
        const index = unread[n]!;
        const facts = read[n]!;
        this.recent.keep(item, facts);
        const judged = this.judge(item, facts, soFar);
        if ('kind' in judged) outcomes[index] = judged;
        else if (isCommitted(judged)) planned.push({ index, item, facts, plan: judged });
        else outcomes[index] = { kind: 'answer', answer: judged.answer };
      });
    }
    if (planned.length === 0) return outcomes;
    committing?.(planned.map(({ item }) => item));
    await this.commit(planned, outcomes);
    return outcomes;
  }

  /** Where an agent has open tasks, or a call names one, the other agents of the task's chain are asked about too. */
  private async readFacts(items: readonly AdmissionItem[]): Promise<Facts[]> {
    const read = await this.facts.read(items.map((item) => ({ ...item, ...(item.claim ? { key: item.claim } : {}) })));
    const mayDoTask = items.flatMap((item, i) => (item.taskId !== undefined || read[i]!.openTasks > 0 ? [i] : []));
    if (mayDoTask.length === 0) return read;
    const withTasks = await this.facts.addTasks(mayDoTask.map((i) => items[i]!), mayDoTask.map((i) => read[i]!));
    mayDoTask.forEach((i, n) => (read[i] = withTasks[n]!));
    return read;
  }

  /** Checks the caller, looks for an earlier answer, and decides. Nothing is written yet. */
  private judge(item: AdmissionItem, facts: Facts, soFar: DecidedSoFar): AdmissionPlan | Outcome {
    if (Date.now() >= item.deadline.getTime()) return this.delayed.tooLate(item);
    const unauthenticated = whyNotAuthenticated(item, facts);
    if (unauthenticated !== undefined) return { kind: 'error', error: new Problem('UNAUTHENTICATED', unauthenticated) };
    if (!facts.agent) return { kind: 'error', error: new Problem('NOT_FOUND', 'There is no such agent.') };
    if (facts.kept && item.claim) {
      // The agent's status is asked again before an idempotent replay: an agent out of service learns nothing more.
      const inactive = item.principal.kind === 'agent' && facts.agent.status !== 'active';
      if (inactive) return { kind: 'error', error: new Problem('AGENT_INACTIVE', `The agent is ${facts.agent.status}.`) };
      try {
        assertSameBody(item.claim.fingerprint, facts.kept.fingerprint);
      } catch (error) {
        return { kind: 'error', error };
      }
      return { kind: 'answer', answer: { kind: 'replay', executionId: facts.kept.executionId! } };
    }
    const { unanchored: _, ...present } = facts;
    const used = (of: Facts) => of.usage && soFar.usedWith(of.grant!, of.usage.used);
    const decision = decideByFacts(this.freshness.isStale ? { ...present, unanchored: true } : present, callOf(item, facts), used);
    const plan = planAdmission(item, facts, decision);
    if (plan.opens === 1) {
      const open = facts.openRequests + soFar.opened(item.agentId);
      if (open >= this.config.hitlMaxPendingPerAgent) return { kind: 'error', error: tooManyPending() };
    }
    soFar.add(item.agentId, facts, plan);
    return plan;
  }

  private async commit(planned: Planned[], outcomes: Outcome[]): Promise<void> {
    let answered: CommitAnswer;
    try {
      const parameters = commitParameters(planned, this.config.hitlMaxPendingPerAgent);
      const [row] = await this.statements.run<CommitAnswer & Record<string, unknown>>(COMMIT, parameters);
      answered = row!;
    } catch (error) {
      await this.afterFailure(planned, outcomes, error);
      return;
    }
    const { now, results } = answered;
    if (results === null) {
      // Where the clocks agree now, the batch waited on its way for too long.
      const error = clockSkewProblem(now);
      for (const { index, item } of planned) outcomes[index] = error ? { kind: 'error', error } : this.delayed.tooLate(item);
      return;
    }
    planned.forEach(({ index, item, plan }, n) => {
      outcomes[index] = this.outcomeOf(results[n]!, item, plan);
      if (results[n] !== 'ok') this.recent.forget(item);
    });
    this.signals.send(planned.filter((_, n) => results[n] === 'ok'));
  }

  private outcomeOf(result: string, item: AdmissionItem, plan: AdmissionPlan): Outcome {
    switch (result) {
      case 'ok':
        return { kind: 'answer', answer: plan.answer };
      case 'stale':
        return AGAIN;
      case 'busy':
        return this.delayed.busy(item);
      default:
        return this.delayed.tooLate(item);
    }
  }

  /**
   * A commit whose acknowledgement was lost is looked up, never sent again; calls that come meanwhile need not wait for that. A batch
   * that fails on its data is halved, so that one bad item fails alone; a lock that could not be had is tried again.
   */
  private async afterFailure(planned: Planned[], outcomes: Outcome[], error: unknown): Promise<void> {
    if (isConnectionError(error)) {
      const settled = this.unknownCommits.settle(planned.map(({ item, plan }) => ({ item, plan })), error);
      planned.forEach(({ index, plan }, n) => {
        const outcome = settled.then((found): Outcome =>
          found[n] === true ? { kind: 'answer', answer: plan.answer } : { kind: 'error', error });
        outcomes[index] = { kind: 'later', outcome };
      });
      return;
    }
    if (isPassing(error)) {
      for (const { index, item } of planned) outcomes[index] = this.delayed.failed(item, error);
      return;
    }
    if (planned.length === 1) {
      outcomes[planned[0]!.index] = { kind: 'error', error };
      return;
    }
    const half = planned.length >> 1;
    await this.commit(planned.slice(0, half), outcomes);
    await this.commit(planned.slice(half), outcomes);
  }
}

/**
 * Requests and uses of the items of a batch that were decided so far. The items behind them are decided as if these were committed, and
 * are stale where one of them is not.
 */
class DecidedSoFar {
  private readonly requests = new Map<string, number>();
  private readonly uses = new Map<string, string>();

  opened(agentId: string): number {
    return this.requests.get(agentId) ?? 0;
  }

  usedWith(grant: GrantFacts, used: UsedUp): UsedUp {
    return grant.limits.map((limit, i) => addAmounts(used[i]!, this.uses.get(`${grant.id} ${measureOf(limit)}`) ?? '0'));
  }

  add(agentId: string, facts: Facts, { opens, uses }: AdmissionPlan): void {
    if (opens === 1) this.requests.set(agentId, this.opened(agentId) + 1);
    for (const { grantId, measure, amount } of grantUses(facts, uses)) {
      const key = `${grantId} ${measure}`;
      this.uses.set(key, addAmounts(this.uses.get(key) ?? '0', amount));
    }
  }
}

function isCommitted(plan: AdmissionPlan): boolean {
  return plan.entries.length > 0;
}

function callOf({ capability, input, principal, context, action }: AdmissionItem, { now }: Facts): GateCall {
  return {
    capability, input, now,
    tokenCapabilities: principal.kind === 'agent' ? principal.capabilities : 'any',
    ...(context ? { context } : {}),
    ...(action === undefined ? {} : { action }),
  };
}

/** On this route the guard has checked token or key alone; agent, key, epoch and root key are checked here, in the guard's order. */
function whyNotAuthenticated({ principal }: AdmissionItem, facts: Facts): string | undefined {
  // The guard compares people with their present state; their dry runs commit nothing.
  if (principal.kind === 'user') return undefined;
  if (principal.kind === 'root') {
    return principal.keyHash === facts.rootKeyHash ? undefined : 'This credential does not hold: unknown root key.';
  }
  if (facts.now.getTime() >= principal.expiresAt * 1000) return `This credential does not hold: the ${principal.credential} has expired.`;
  if (!facts.agent) return 'This credential does not hold: unknown agent.';
  if (facts.hasKey === false) return `This credential does not hold: ${DEAD_KEY}.`;
  // A good credential of an agent out of service goes on to the decision, which answers 403.
  const reason = facts.agent.status === 'active' ? whyCredentialDied(principal, facts.agent.epoch, facts.tenantId) : undefined;
  return reason === undefined ? undefined : `This credential does not hold: ${reason}.`;
}

function tooManyPending(): Problem {
  return new Problem('TOO_MANY_PENDING', 'Wait until some of this agent\'s open requests are decided, or cancel them.', {
    headers: { 'Retry-After': '60' },
  });
}
