import { Injectable } from '@nestjs/common';
import { type AccountHome, basisOf, type DecisionRecord, type VoterRecord } from '../../../domain/audit/catalogue/basis.js';
import {
  barredFrom, type Decider, type DutyCommand, type DutyQuestion, type DutyResult, judgeDecider, type RequestTies, stricterOf,
} from '../../../domain/hitl/duties.js';
import type { Approver } from '../../../domain/hitl/quorum.js';
import { type EscalationLevel, HIGHEST_LEVEL } from '../../../domain/hitl/transition.js';
import type { Caller } from '../../../platform/auth/access/principal.js';
import { pipelined } from '../../../platform/database/transaction/pipelined.js';
import type { Tx } from '../../../platform/database/transaction/tx.js';
import { Problem } from '../../../platform/http/reply/problem.js';
import { DeciderQuery, type DeciderWanted } from '../../authority/decider.query.js';
import type { Facts } from '../../authority/facts.js';
import { FactsQuery } from '../../authority/facts.query.js';
import { delegatorsOf } from '../../executions/started-event.js';
import { tiesOf, withNamesake } from '../queue/request-ties.js';
import { factsWantedOf, HitlRequestStore, type RequestToDecide } from '../requests/hitl-request.store.js';
import { assertDecidable } from './assert-decidable.js';
import { commandOf, type Decision, type DecisionContext } from './decision.js';

/** A request that this caller may decide. */
export interface EligibleDecision extends DecisionContext {
  decider: Decider;
  may: Extract<DutyResult, { kind: 'may' }>;
  /** For the entry: up to where facts were read, and the rights of the decider. */
  record: DecisionRecord;
}

/** The voters who could approve the request now; `selves`: for each name, the accounts that count as one person with it. */
export interface StillEligible {
  approvers: readonly (Approver & { readonly highestLevel: EscalationLevel; readonly record: VoterRecord })[];
  selves: ReadonlyMap<string, readonly string[]>;
}

type DeciderDescription = Pick<DutyQuestion, 'decider' | 'organization' | 'request'> & { readonly home?: AccountHome };

/**
 * Authorizes decisions: first whether the request may be decided at all (`assertDecidable`), then whether this caller may. Within the
 * unit of work, after its locks, so that a role that was taken away, or a colleague who left, counts at once.
 */
@Injectable()
export class DecisionEligibilityService {
  constructor(
    private readonly requests: HitlRequestStore,
    private readonly facts: FactsQuery,
    private readonly deciders: DeciderQuery,
  ) {}

  /** Reads and locks what every decision rests on; can be sent together with the locks of its plan. @throws Problem NOT_FOUND */
  async read(tx: Tx, ref: RequestToDecide): Promise<DecisionContext> {
    const [request, facts] = await pipelined([this.requests.read(tx, ref), this.facts.readWithin(tx, factsWantedOf(ref), ref.executionId)]);
    return { request, facts };
  }

  /** @throws Problem STOPPED, HITL_ALREADY_DECIDED, HITL_EXPIRED, HITL_DIGEST_MISMATCH, NOT_ELIGIBLE, SELF_APPROVAL, REASON_REQUIRED */
  async authorize(
    tx: Tx, context: DecisionContext, kind: DutyCommand['kind'], decision: Decision, caller: Caller,
  ): Promise<EligibleDecision> {
    assertDecidable(context, kind, decision);
    return this.authorizeDecider(tx, context, kind, decision, caller);
  }

  /** @throws Problem NOT_ELIGIBLE, SELF_APPROVAL, REASON_REQUIRED */
  async authorizeDecider(
    tx: Tx, context: DecisionContext, kind: DutyCommand['kind'], decision: Decision, caller: Caller,
  ): Promise<EligibleDecision> {
    const { request, facts } = context;
    const { home, ...asked } = await this.describeDecider(tx, request.organizationId, tiesOf(request), facts, caller);
    const result = judgeDecider({ ...asked, agent: facts.agent ?? {}, command: commandOf(kind, decision) });
    if (result.kind === 'may_not') throw new Problem(result.code, result.detail);
    const { decider } = asked;
    const rights = { role: decider.kind === 'root' ? ROOT : decider.role, level: result.highestLevel } as const;
    const record = { basis: basisOf(facts), decider: { ...rights, ...(home ? { home } : {}) }, ...delegatorsOf(facts.task?.delegators) };
    return { ...context, decider, may: result, record };
  }

  /**
   * Judges the voters again, by their present rights. The credentials by which they voted are not asked about again.
   *
   * @param level at which an approver has to be able to decide
   */
  async stillEligible(
    tx: Tx,
    { request: wanted, facts }: DecisionContext,
    voters: readonly string[],
    level: EscalationLevel,
  ): Promise<StillEligible> {
    const { organizationId } = wanted;
    const ties = { ...tiesOf(wanted), level };
    const agent = facts.agent ?? {};
    const separation = stricterOf(ties.separationOfDuties, facts.separationOfDuties);
    const strict = separation === 'strict';
    const names = strict ? [...voters, ...barredFrom(ties, agent, separation).map(({ name }) => name)] : voters;
    // Of a quorum too: an account and its vouchers count as one person.
    const selves = await this.deciders.selves(tx, organizationId, names, ties.createdAt, true);
    const about = { ...deciderWanted(organizationId, ties, facts), ...(strict ? { teamsBefore: ties.createdAt } : {}) };
    const people = await this.deciders.readAll(tx, voters, about);
    const approvers = voters.flatMap((id): StillEligible['approvers'] => {
      if (id === ROOT) return [approverOf(id, ROOT, HIGHEST_LEVEL)];
      const found = people.get(id);
      if (!found) return [];
      const { person, hasSingleUser, isNamesake, teamIds, home } = found;
      const organization = { separationOfDuties: facts.separationOfDuties, hasSingleUser, selves: strict ? selves : new Map() };
      const request = withNamesake(ties, person.userId, isNamesake);
      const result = judgeDecider({ decider: person, request, agent, organization, command: { kind: 'approve' } });
      return result.kind === 'may' ? [approverOf(id, person.role, result.highestLevel, teamIds, home)] : [];
    });
    return { approvers, selves };
  }

  private async describeDecider(
    tx: Tx, organizationId: string, ties: RequestTies, facts: Facts, { principal }: Caller,
  ): Promise<DeciderDescription> {
    const { separationOfDuties } = facts;
    const nobody = { separationOfDuties, hasSingleUser: false, selves: new Map<string, readonly string[]>() };
    if (principal.kind === 'root') return { decider: { kind: 'root' }, organization: nobody, request: ties };
    if (principal.kind !== 'user') throw new Problem('FORBIDDEN', 'People decide.');
    const found = await this.deciders.read(tx, principal, deciderWanted(organizationId, ties, facts));
    const { person, hasSingleUser, isNamesake, home } = found;
    const request = withNamesake(ties, person.userId, isNamesake);
    const organization = { ...nobody, hasSingleUser };
    const separation = stricterOf(ties.separationOfDuties, separationOfDuties);
    if (separation === 'standard') return { decider: person, organization, request, home };
    const names = [person.userId, ...barredFrom(ties, facts.agent ?? {}, separation).map(({ name }) => name)];
    const selves = await this.deciders.selves(tx, organizationId, names, ties.createdAt);
    return { decider: person, organization: { ...organization, selves }, request, home };
  }
}

export const ROOT = 'root';

function approverOf(
  id: string, role: Approver['role'], highestLevel: EscalationLevel, teamIds: readonly string[] = [], home?: AccountHome,
): StillEligible['approvers'][number] {
  return { id, role, teamIds, highestLevel, record: { userId: id, role, level: highestLevel, ...(home ? { home } : {}) } };
}

function deciderWanted(organizationId: string, { createdAt, initiators }: RequestTies, { agent }: Facts): DeciderWanted {
  return { organizationId, since: createdAt, initiators, ...(agent?.teamId === undefined ? {} : { teamId: agent.teamId }) };
}
