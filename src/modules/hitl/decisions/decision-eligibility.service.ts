import { Injectable } from '@nestjs/common';
import { type AccountHome, basisOf, type DecisionRecord, type VoterRecord } from '../../../domain/audit/catalogue/basis.js';
import { sameDigest } from '../../../domain/hitl/digest.js';
import {
  barredFrom, type Decider, type DutyCommand, type DutyQuestion, type DutyResult, judgeDecider, type Person, type RequestTies, stricterOf,
} from '../../../domain/hitl/duties.js';
import type { Approver } from '../../../domain/hitl/quorum.js';
import { type EscalationLevel, HIGHEST_LEVEL, isOpen, transition } from '../../../domain/hitl/transition.js';
import type { JsonObject } from '../../../domain/json.js';
import type { Caller } from '../../../platform/auth/access/principal.js';
import { pipelined } from '../../../platform/database/transaction/pipelined.js';
import type { Tx } from '../../../platform/database/transaction/tx.js';
import { Problem } from '../../../platform/http/reply/problem.js';
import { DeciderQuery, type DeciderWanted } from '../../authority/decider.query.js';
import { type Facts, FactsQuery } from '../../authority/facts.query.js';
import { assertNotStopped } from '../requests/stopped.js';
import type { HitlRequestEntity } from '../requests/hitl-request.entity.js';
import { HitlRequestStore, type RequestToDecide } from '../requests/hitl-request.store.js';
import { refusalOf, stateOf } from '../requests/apply-transition.service.js';

export interface Decision {
  note?: string;
  expectedDigest?: string;
  breakGlass?: boolean;
  /** Of an approval: what shall run instead of what was asked. */
  editedInput?: JsonObject;
  /** One of many that are decided at once: none of level 2 is approved so, and each has to say what was shown. */
  inBatch?: true;
}

/** A request that stands, and what is true now. */
export interface DecisionContext {
  request: HitlRequestEntity;
  facts: Facts;
}

/** And that this caller may decide it. */
export interface EligibleDecision extends DecisionContext {
  decider: Decider;
  may: Extract<DutyResult, { kind: 'may' }>;
  /** For its entry: what was read, and of whom. */
  record: DecisionRecord;
}

/** Of those who voted: who could approve it now, and who stands behind whom. */
export interface StillEligible {
  approvers: readonly (Approver & { readonly highestLevel: EscalationLevel; readonly record: VoterRecord })[];
  selves: ReadonlyMap<string, readonly string[]>;
}

type Who = Pick<DutyQuestion, 'decider' | 'organization' | 'request'> & { readonly home?: AccountHome };

/**
 * The questions before a decision, always in one order: does a stop hold it, is it still open, is it the action that was shown,
 * may this person decide it. Asked inside the unit of work, after its locks, so that a role taken away or a colleague who left
 * counts at once.
 */
@Injectable()
export class DecisionEligibilityService {
  constructor(
    private readonly requests: HitlRequestStore,
    private readonly facts: FactsQuery,
    private readonly deciders: DeciderQuery,
  ) {}

  /** What every decision rests on, locked; it can be asked along with the locks of its plan. @throws Problem NOT_FOUND */
  async read(tx: Tx, ref: RequestToDecide): Promise<DecisionContext> {
    const [request, facts] = await pipelined([this.requests.read(tx, ref), this.facts.readWithin(tx, ref, ref.executionId)]);
    return { request, facts };
  }

  /** @throws Problem STOPPED, HITL_ALREADY_DECIDED, HITL_EXPIRED, HITL_DIGEST_MISMATCH, NOT_ELIGIBLE, SELF_APPROVAL, REASON_REQUIRED */
  async judge(tx: Tx, found: DecisionContext, kind: DutyCommand['kind'], decision: Decision, caller: Caller): Promise<EligibleDecision> {
    assertDecidable(found, kind, decision);
    return this.mayDecide(tx, found, kind, decision, caller);
  }

  /** @throws Problem NOT_ELIGIBLE, SELF_APPROVAL, REASON_REQUIRED */
  async mayDecide(tx: Tx, standing: DecisionContext, kind: DutyCommand['kind'], decision: Decision, caller: Caller): Promise<EligibleDecision> {
    const { request, facts } = standing;
    const { home, ...who } = await this.who(tx, request.organizationId, tiesOf(request), facts, caller);
    const verdict = judgeDecider({ ...who, agent: facts.agent ?? {}, command: commandOf(kind, decision) });
    if (verdict.kind === 'may_not') throw new Problem(verdict.code, verdict.detail);
    const { decider } = who;
    const rights = { role: decider.kind === 'root' ? ROOT : decider.role, level: verdict.highestLevel } as const;
    const record = { basis: basisOf(facts), decider: { ...rights, ...(home ? { home } : {}) } };
    return { ...standing, decider, may: verdict, record };
  }

  /**
   * Judges those who voted once more, by their rights of now. Of how they came in is not asked again: that was, when they did.
   *
   * @param level at which they have to be able to decide
   */
  async stillEligible(
    tx: Tx,
    { request, facts }: DecisionContext,
    voters: readonly string[],
    level: EscalationLevel,
  ): Promise<StillEligible> {
    const { organizationId } = request;
    const ties = { ...tiesOf(request), level };
    const agent = facts.agent ?? {};
    const separation = stricterOf(ties.separationOfDuties, facts.separationOfDuties);
    const strict = separation === 'strict';
    const names = strict ? [...voters, ...barredFrom(ties, agent, separation).map(({ name }) => name)] : voters;
    // Of a quorum too: whoever vouched for an account counts as one person with it.
    const selves = await this.deciders.selves(tx, organizationId, names, ties.createdAt, true);
    const asked = { ...aboutPeople(organizationId, ties, facts), ...(strict ? { teamsBefore: ties.createdAt } : {}) };
    const people = await this.deciders.readAll(tx, voters, asked);
    const approvers = voters.flatMap((id): StillEligible['approvers'] => {
      if (id === ROOT) return [approverOf(id, ROOT, HIGHEST_LEVEL)];
      const standing = people.get(id);
      if (!standing) return [];
      const { person, hasSingleUser, teamIds, home } = standing;
      const organization = { separationOfDuties: facts.separationOfDuties, hasSingleUser, selves: strict ? selves : new Map() };
      const then = tiesWith(ties, standing);
      const verdict = judgeDecider({ decider: person, request: then, agent, organization, command: { kind: 'approve' } });
      return verdict.kind === 'may' ? [approverOf(id, person.role, verdict.highestLevel, teamIds, home)] : [];
    });
    return { approvers, selves };
  }

  private async who(tx: Tx, organizationId: string, ties: RequestTies, facts: Facts, { principal }: Caller): Promise<Who> {
    const { separationOfDuties } = facts;
    const nobody = { separationOfDuties, hasSingleUser: false, selves: new Map<string, readonly string[]>() };
    if (principal.kind === 'root') return { decider: { kind: 'root' }, organization: nobody, request: ties };
    if (principal.kind !== 'user') throw new Problem('FORBIDDEN', 'People decide.');
    const standing = await this.deciders.read(tx, principal, aboutPeople(organizationId, ties, facts));
    const { person, hasSingleUser, home } = standing;
    const request = tiesWith(ties, standing);
    const organization = { ...nobody, hasSingleUser };
    const separation = stricterOf(ties.separationOfDuties, separationOfDuties);
    if (separation === 'standard') return { decider: person, organization, request, home };
    const names = [person.userId, ...barredFrom(ties, facts.agent ?? {}, separation).map(({ name }) => name)];
    const selves = await this.deciders.selves(tx, organizationId, names, ties.createdAt);
    return { decider: person, organization: { ...organization, selves }, request, home };
  }
}

/**
 * Whether a request may be decided at all, whoever it is that decides.
 *
 * @throws Problem STOPPED, HITL_ALREADY_DECIDED, HITL_EXPIRED, ESCALATION_LIMIT, HITL_DIGEST_MISMATCH, NOT_ELIGIBLE
 */
export function assertDecidable({ request, facts }: DecisionContext, kind: DutyCommand['kind'], decision: Decision): void {
  if (isOpen(request.status)) assertNotStopped(facts);
  const { expectedDigest } = decision;
  const outcome = transition(stateOf(request), kind === 'escalate' ? { kind, reason: '' } : { kind: 'reject' }, facts.now);
  if (outcome.kind === 'refused') throw refusalOf(outcome, request);
  // Who was shown the request before somebody edited it cannot mean what it is now.
  if (request.editedAt !== null && expectedDigest === undefined) throw notAsShown(request);
  assertShown(request, expectedDigest);
  if (decision.inBatch) assertFitForBatch(request, kind, decision);
}

export const ROOT = 'root';

function approverOf(
  id: string, role: Approver['role'], highestLevel: EscalationLevel, teamIds: readonly string[] = [], home?: AccountHome,
): StillEligible['approvers'][number] {
  return { id, role, teamIds, highestLevel, record: { userId: id, role, level: highestLevel, ...(home ? { home } : {}) } };
}

export function commandOf(kind: DutyCommand['kind'], { breakGlass, note }: Decision): DutyCommand {
  return { kind, ...(breakGlass === undefined ? {} : { breakGlass }), ...(note === undefined ? {} : { reason: note }) };
}

function aboutPeople(organizationId: string, { createdAt, initiators }: RequestTies, { agent }: Facts): DeciderWanted {
  return { organizationId, since: createdAt, initiators, ...(agent?.teamId === undefined ? {} : { teamId: agent.teamId }) };
}

/** Another account of the same address, closed or elsewhere in the house, is the same person. */
function tiesWith(ties: RequestTies, { person, isNamesake }: { person: Person; isNamesake: boolean }): RequestTies {
  return isNamesake ? { ...ties, initiators: [...ties.initiators, person.userId] } : ties;
}

/** @throws Problem HITL_DIGEST_MISMATCH, NOT_ELIGIBLE */
function assertFitForBatch(request: HitlRequestEntity, kind: DutyCommand['kind'], { expectedDigest }: Decision): void {
  if (expectedDigest === undefined) throw digestMismatch(request, 'In a batch each item brings the `actionDigest` that you were shown.');
  if (kind !== 'approve' || request.escalationLevel < HIGHEST_LEVEL) return;
  throw new Problem('NOT_ELIGIBLE', `A batch approves nothing of level ${HIGHEST_LEVEL}. Approve this request by itself.`);
}

/** @throws Problem HITL_DIGEST_MISMATCH where the caller was shown another action */
export function assertShown(request: HitlRequestEntity, expectedDigest: string | undefined): void {
  if (expectedDigest !== undefined && !sameDigest(expectedDigest, request.digest)) throw notAsShown(request);
}

function notAsShown(request: HitlRequestEntity): Problem {
  return digestMismatch(request, request.editedAt === null
    ? 'Look at the request again: it is not the action that you were shown.'
    : 'Look at the request again: it was edited. Send the actionDigest that it has now as expectedDigest.');
}

function digestMismatch({ id, status, decidedBy, decidedAt }: HitlRequestEntity, detail: string): Problem {
  return new Problem('HITL_DIGEST_MISMATCH', detail, {
    members: { request: { id, status, decidedBy, decidedAt: decidedAt?.toISOString() ?? null } },
  });
}

function tiesOf(request: HitlRequestEntity): RequestTies {
  const { createdBy, agentOwnerId, agentRegisteredBy, teamId, vouchedBy } = request;
  return {
    level: request.escalationLevel,
    createdAt: request.createdAt,
    separationOfDuties: request.separationOfDuties,
    // Whose call it was is behind it too, where that is a person.
    initiators: [...request.initiators, createdBy],
    ...(vouchedBy === null ? {} : { vouchedBy }),
    agent: {
      ...(agentOwnerId === null ? {} : { ownerId: agentOwnerId }),
      ...(agentRegisteredBy === null ? {} : { registeredBy: agentRegisteredBy }),
      ...(teamId === null ? {} : { teamId }),
    },
  };
}
