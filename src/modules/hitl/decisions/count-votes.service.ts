import { Injectable } from '@nestjs/common';
import type { VoterRecord } from '../../../domain/audit/catalogue/basis.js';
import { breakGlass } from '../../../domain/hitl/duties.js';
import { isSamePerson, type Quorum, stricterQuorum, type Tally, tally } from '../../../domain/hitl/quorum.js';
import type { EscalationLevel } from '../../../domain/hitl/transition.js';
import type { Tx } from '../../../platform/database/transaction/tx.js';
import { Problem } from '../../../platform/http/reply/problem.js';
import type { HitlRequestEntity } from '../requests/hitl-request.entity.js';
import { quorumByFacts } from '../../authority/decide-by-facts.js';
import { levelNeeded } from './approval-precondition.js';
import { commandOf, type Decision, type DecisionContext } from './decision.js';
import { DecisionEligibilityService, type EligibleDecision, ROOT } from './decision-eligibility.service.js';
import { type NewVote, VoteStore } from './vote.store.js';

/**
 * Whether an approval decides. `vote`: the approval is one of several and is stored as a vote; `voters`: whose earlier votes counted too.
 */
export type CountResult = { readonly voters?: readonly VoterRecord[] } & (
  | { readonly decides: true; readonly vote: boolean; readonly breakGlass: boolean; readonly deciderLevel: EscalationLevel }
  | { readonly decides: false; readonly tally: Tally });

/** The quorum that counts now: the stricter of the request's and the present grant's. */
export function quorumOf({ request, facts }: DecisionContext): Quorum | null {
  return stricterQuorum(request.quorum, quorumByFacts(facts));
}

/** Counts approvals where several people have to approve. */
@Injectable()
export class CountVotesService {
  constructor(
    private readonly votes: VoteStore,
    private readonly eligibility: DecisionEligibilityService,
  ) {}

  /**
   * Whether this approval decides: alone, as the last of several, or because an owner breaks the glass. An earlier vote counts if its
   * voter could approve the request now, at the level that the gate now asks for.
   *
   * @throws Problem CONFLICT where the same person has voted, be it by another account; REASON_REQUIRED
   */
  async count(tx: Tx, eligible: EligibleDecision, decision: Decision): Promise<CountResult> {
    const { request, facts, decider, may } = eligible;
    const quorum = quorumOf(eligible);
    if (quorum === null || may.breakGlass) {
      return { decides: true, vote: false, breakGlass: may.breakGlass, deciderLevel: may.highestLevel };
    }
    const voter = decider.kind === 'root' ? ROOT : decider.userId;
    const before = await this.votes.voters(tx, request);
    const all = [...new Set([...before, voter])];
    const { approvers, selves } = await this.eligibility.stillEligible(tx, eligible, all, levelNeeded(request, facts));
    const counted = tally(quorum, approvers, selves);
    const earlier = approvers.flatMap(({ id, record }) => (id === voter ? [] : [record]));
    const voters = earlier.length === 0 ? {} : { voters: earlier };
    if (counted.met) {
      // Several people together decide at the lowest of their levels.
      const lowest = Math.min(...approvers.map(({ highestLevel }) => highestLevel)) as EscalationLevel;
      return { decides: true, vote: true, breakGlass: false, deciderLevel: lowest, ...voters };
    }
    const override = breakGlass(decider, commandOf('approve', decision), may.highestLevel);
    if (override?.kind === 'may_not') throw new Problem(override.code, override.detail);
    if (override) return { decides: true, vote: false, breakGlass: true, deciderLevel: override.highestLevel };
    assertFirst(voter, before, approvers.map(({ id }) => id), selves);
    return { decides: false, tally: counted, ...voters };
  }

  async keep(tx: Tx, request: HitlRequestEntity, vote: NewVote): Promise<void> {
    await this.votes.add(tx, request, vote);
  }
}

/** Refuses a second vote: of the same voter always, of another account of the same person while its vote counts. */
function assertFirst(
  voter: string,
  before: readonly string[],
  counted: readonly string[],
  selves: ReadonlyMap<string, readonly string[]>,
): void {
  const earlier = before.find((id) => id === voter || (counted.includes(id) && isSamePerson(id, voter, selves)));
  if (earlier === undefined) return;
  throw new Problem('CONFLICT', earlier === voter
    ? 'You have approved it already; somebody else has to, too.'
    : 'Another account that counts as one person with yours has approved it already; somebody else has to, too.');
}
