import { Injectable } from '@nestjs/common';
import type { VoterRecord } from '../../../domain/audit/catalogue/basis.js';
import { breakGlass } from '../../../domain/hitl/duties.js';
import { isSamePerson, type Quorum, stricterQuorum, type Tally, tally } from '../../../domain/hitl/quorum.js';
import type { EscalationLevel } from '../../../domain/hitl/transition.js';
import type { Tx } from '../../../platform/database/transaction/tx.js';
import { Problem } from '../../../platform/http/reply/problem.js';
import type { HitlRequestEntity } from '../requests/hitl-request.entity.js';
import { commandOf, type Decision, type EligibleDecision, DecisionEligibilityService, ROOT, type DecisionContext } from './decision-eligibility.service.js';
import { levelNeeded } from './approval-precondition.js';
import { type NewVote, VoteStore } from './vote.store.js';

/**
 * What an approval amounts to. `vote`: it is one of several, so it is kept with them; `voters`: whose earlier votes counted beside it.
 */
export type Weighed = { readonly voters?: readonly VoterRecord[] } & (
  | { readonly decides: true; readonly vote: boolean; readonly breakGlass: boolean; readonly deciderLevel: EscalationLevel }
  | { readonly decides: false; readonly tally: Tally });

/** What holds for a request now: nobody loosens what it was asked under. */
export function quorumOf({ request, facts }: DecisionContext): Quorum | null {
  return stricterQuorum(request.quorum, facts.grant?.quorum ?? null);
}

/** Counts approvals where several people have to approve. */
@Injectable()
export class CountVotesService {
  constructor(
    private readonly votes: VoteStore,
    private readonly judging: DecisionEligibilityService,
  ) {}

  /**
   * Whether this approval decides: alone, as the last of several, or because its owner breaks the glass. Of those who voted
   * before, who could approve it now counts, and where the gate now asks for an admin, only who decides at that level.
   *
   * @throws Problem CONFLICT where the same person has voted, be it by another account; REASON_REQUIRED
   */
  async weigh(tx: Tx, judged: EligibleDecision, decision: Decision): Promise<Weighed> {
    const { request, facts, decider, may } = judged;
    const quorum = quorumOf(judged);
    if (quorum === null || may.breakGlass) {
      return { decides: true, vote: false, breakGlass: may.breakGlass, deciderLevel: may.highestLevel };
    }
    const voter = decider.kind === 'root' ? ROOT : decider.userId;
    const before = await this.votes.voters(tx, request);
    const all = [...new Set([...before, voter])];
    const { approvers, selves } = await this.judging.stillEligible(tx, judged, all, levelNeeded(request, facts));
    const counted = tally(quorum, approvers, selves);
    const earlier = approvers.flatMap(({ id, record }) => (id === voter ? [] : [record]));
    const voters = earlier.length === 0 ? {} : { voters: earlier };
    if (counted.met) {
      // What several people answer for satisfies no more than what each of them could decide.
      const lowest = Math.min(...approvers.map(({ highestLevel }) => highestLevel)) as EscalationLevel;
      return { decides: true, vote: true, breakGlass: false, deciderLevel: lowest, ...voters };
    }
    const broken = breakGlass(decider, commandOf('approve', decision), may.highestLevel);
    if (broken?.kind === 'may_not') throw new Problem(broken.code, broken.detail);
    if (broken) return { decides: true, vote: false, breakGlass: true, deciderLevel: broken.highestLevel };
    assertFirst(voter, before, approvers.map(({ id }) => id), selves);
    return { decides: false, tally: counted, ...voters };
  }

  async keep(tx: Tx, request: HitlRequestEntity, vote: NewVote): Promise<void> {
    await this.votes.add(tx, request, vote);
  }
}

/** One's own vote is there to stay; that of another account of the same person, while it counts. */
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
