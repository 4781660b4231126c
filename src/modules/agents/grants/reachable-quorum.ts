import { Injectable } from '@nestjs/common';
import type { HitlMode } from '../../../domain/gate/vocabulary.js';
import type { AgentTies } from '../../../domain/hitl/duties.js';
import { type Quorum, type QuorumGroup, tally } from '../../../domain/hitl/quorum.js';
import { HIGHEST_LEVEL } from '../../../domain/hitl/transition.js';
import type { Tx } from '../../../platform/database/transaction/tx.js';
import { type FieldError, Problem } from '../../../platform/http/reply/problem.js';
import { PossibleApprovers } from './possible-approvers.js';

/** A quorum as it is being granted, and for whom. */
export interface GrantedQuorum {
  readonly organizationId: string;
  readonly quorum: Quorum;
  readonly effectiveMode: HitlMode;
  /** The agent's ties; of a team's grant the team alone. */
  readonly agent: AgentTies;
  /** JSON pointer of the grant in the body. */
  readonly pointer: string;
}

/** A grant that makes people be asked; `wanted`: how many have to approve. */
export type AskingGrant = Pick<GrantedQuorum, 'organizationId' | 'effectiveMode' | 'agent'> & { readonly wanted: number };

/**
 * Refuses a quorum that nobody can bring together: nothing that waits for it could ever be approved but by breaking the glass. Asked
 * when it is granted; that people leave later shows in their requests (`decidableBy`).
 */
@Injectable()
export class ReachableQuorum {
  constructor(private readonly people: PossibleApprovers) {}

  /** How many people could answer what such an agent asks: all accounts of one person are one. At most as many as are `wanted`. */
  async approvers(tx: Tx, { organizationId, effectiveMode, agent, wanted }: AskingGrant): Promise<number> {
    const level = effectiveMode === 'escalate' ? HIGHEST_LEVEL : 0;
    const { approvers, selves } = await this.people.approversOf(tx, { organizationId, agent, level, teams: [] });
    return tally({ approvals: wanted }, approvers, selves).approvals;
  }

  /** @throws Problem TARGET_NOT_ELIGIBLE */
  async assert(tx: Tx, { organizationId, quorum, effectiveMode, agent, pointer }: GrantedQuorum): Promise<void> {
    const groups = quorum.groups ?? [];
    const teams = groups.flatMap((group) => ('teamId' in group ? [group.teamId] : []));
    const level = effectiveMode === 'escalate' ? HIGHEST_LEVEL : 0;
    const { approvers, selves } = await this.people.approversOf(tx, { organizationId, agent, level, teams });
    // Root is one vote and of no group here: who asks for a group asks for a person.
    const { approvals, needed, missing } = tally(quorum, approvers, selves);
    const possible = approvals + 1;
    const errors: FieldError[] = groups.flatMap((group, i) =>
      (missing.includes(group) ? [lacking(group, `${pointer}/quorum/groups/${i}`)] : []));
    if (possible < needed) {
      errors.unshift({ pointer: `${pointer}/quorum/approvals`, message: `must be at most ${possible}: so many could approve` });
    }
    if (errors.length === 0) return;
    const who = level === HIGHEST_LEVEL ? 'admins and owners' : 'admins, owners, the agent\'s owner and its team';
    const people = `${approvals} ${approvals === 1 ? 'person' : 'people'}`;
    const detail = possible < needed
      ? `${needed} have to approve and ${possible} could: ${people} (${who}; who vouched for an account is one with it), and root.`
      : 'Nobody who could approve belongs to a group that has to be among the approvers.';
    throw new Problem('TARGET_NOT_ELIGIBLE', `This quorum cannot be reached. ${detail}`, { errors });
  }
}

function lacking(group: QuorumGroup, pointer: string): FieldError {
  if ('role' in group) return { pointer: `${pointer}/role`, message: 'nobody of this role or a higher one could approve here' };
  return { pointer: `${pointer}/teamId`, message: 'there is no such team, or nobody of it could approve here' };
}
