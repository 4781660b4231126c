import { Injectable } from '@nestjs/common';
import { sameDigest } from '../../domain/hitl/digest.js';
import {
  barredFrom, type DutyCommand, type DutyQuestion, type DutyVerdict, judgeDecider, type RequestTies, stricterOf,
} from '../../domain/hitl/duties.js';
import { isOpen, transition } from '../../domain/hitl/transition.js';
import type { Caller } from '../../platform/auth/principal.js';
import type { Tx } from '../../platform/database/tx.js';
import { Problem } from '../../platform/http/problem.js';
import { DeciderQuery } from '../authority/decider.query.js';
import { type Facts, FactsQuery } from '../authority/facts.query.js';
import { assertNotStopped } from './held.js';
import type { HitlRequestEntity } from './hitl-request.entity.js';
import { HitlRequestStore, type RequestPlace } from './hitl-request.store.js';
import { refusalOf, stateOf } from './move-request.service.js';

export interface Decision {
  note?: string;
  expectedDigest?: string;
  breakGlass?: boolean;
}

/** A request that stands, what is true now, and that this caller may decide it. */
export interface Judged {
  request: HitlRequestEntity;
  facts: Facts;
  may: Extract<DutyVerdict, { kind: 'may' }>;
}

type Who = Pick<DutyQuestion, 'decider' | 'organization' | 'request'>;

/**
 * The questions before a decision, always in one order: does a stop hold it, is it still open, is it the action that was shown,
 * may this person decide it. Asked inside the unit of work, after its locks, so that a role taken away or a colleague who left
 * counts at once.
 */
@Injectable()
export class JudgeDecisionService {
  constructor(
    private readonly requests: HitlRequestStore,
    private readonly facts: FactsQuery,
    private readonly deciders: DeciderQuery,
  ) {}

  /** @throws Problem STOPPED, HITL_ALREADY_DECIDED, HITL_EXPIRED, HITL_DIGEST_MISMATCH, NOT_ELIGIBLE, SELF_APPROVAL, REASON_REQUIRED */
  async judge(tx: Tx, place: RequestPlace, kind: DutyCommand['kind'], decision: Decision, caller: Caller): Promise<Judged> {
    const request = await this.requests.read(tx, place);
    const wanted = { organizationId: place.organizationId, agentId: request.agentId, capability: request.capability };
    const facts = await this.facts.readWithin(tx, wanted, request.executionId);
    if (isOpen(request.status)) assertNotStopped(facts);
    assertDecidable(request, kind, decision.expectedDigest, facts.now);
    const ties = tiesOf(request);
    const agent = facts.agent ?? {};
    const verdict = judgeDecider({
      ...(await this.who(tx, place.organizationId, ties, facts, caller)),
      agent,
      command: {
        kind,
        ...(decision.breakGlass === undefined ? {} : { breakGlass: decision.breakGlass }),
        ...(decision.note === undefined ? {} : { reason: decision.note }),
      },
    });
    if (verdict.kind === 'may_not') throw new Problem(verdict.code, verdict.detail);
    return { request, facts, may: verdict };
  }

  private async who(tx: Tx, organizationId: string, ties: RequestTies, facts: Facts, { principal }: Caller): Promise<Who> {
    const { separationOfDuties } = facts;
    const nobody = { separationOfDuties, hasSingleUser: false, selves: new Map<string, readonly string[]>() };
    if (principal.kind === 'root') return { decider: { kind: 'root' }, organization: nobody, request: ties };
    if (principal.kind !== 'user') throw new Problem('FORBIDDEN', 'People decide.');
    const teamId = facts.agent?.teamId;
    const asked = { organizationId, since: ties.createdAt, initiators: ties.initiators, ...(teamId === undefined ? {} : { teamId }) };
    const { person, hasSingleUser, isNamesake } = await this.deciders.read(tx, principal, asked);
    // Another account of the same address, closed or elsewhere in the house, is the same person.
    const request = isNamesake ? { ...ties, initiators: [...ties.initiators, person.userId] } : ties;
    const organization = { ...nobody, hasSingleUser };
    const separation = stricterOf(ties.separationOfDuties, separationOfDuties);
    if (separation === 'standard') return { decider: person, organization, request };
    const names = [person.userId, ...barredFrom(ties, facts.agent ?? {}, separation).map(({ name }) => name)];
    const selves = await this.deciders.selves(tx, organizationId, names, ties.createdAt);
    return { decider: person, organization: { ...organization, selves }, request };
  }
}

/** @throws Problem HITL_ALREADY_DECIDED, HITL_EXPIRED, ESCALATION_LIMIT, HITL_DIGEST_MISMATCH */
function assertDecidable(
  request: HitlRequestEntity, kind: DutyCommand['kind'], expectedDigest: string | undefined, now: Date,
): void {
  const outcome = transition(stateOf(request), kind === 'escalate' ? { kind, reason: '' } : { kind }, now);
  if (outcome.kind === 'refused') throw refusalOf(outcome, request);
  assertShown(request, expectedDigest);
}

/** @throws Problem HITL_DIGEST_MISMATCH where the caller was shown another action */
export function assertShown(request: HitlRequestEntity, expectedDigest: string | undefined): void {
  if (expectedDigest === undefined || sameDigest(expectedDigest, request.digest)) return;
  const { id, status, decidedBy, decidedAt } = request;
  throw new Problem('HITL_DIGEST_MISMATCH', 'Look at the request again: it is not the action that you were shown.', {
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
