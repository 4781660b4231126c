import { Injectable } from '@nestjs/common';
import type { AgentTies } from '../../../domain/hitl/duties.js';
import type { Approver } from '../../../domain/hitl/quorum.js';
import type { EscalationLevel } from '../../../domain/hitl/transition.js';
import type { Tx } from '../../../platform/database/transaction/tx.js';

/** What is yet to be asked: by which kind of agent, at which level, and of which teams somebody has to be among the approvers. */
export interface AskedOfPeople {
  readonly organizationId: string;
  readonly agent: AgentTies;
  readonly level: EscalationLevel;
  readonly teams: readonly string[];
}

/** Who could approve it; `selves`: for each id, the accounts that count as one person with it. */
export interface Approvers {
  readonly approvers: readonly Approver[];
  readonly selves: ReadonlyMap<string, readonly string[]>;
}

export interface ApproverSource {
  approversOf(tx: Tx, asked: AskedOfPeople): Promise<Approvers>;
}

/** A port: who may approve is for the module of requests to say, which stands above this one and registers itself at start. */
@Injectable()
export class PossibleApprovers implements ApproverSource {
  private source: ApproverSource | undefined;

  register(source: ApproverSource): void {
    this.source = source;
  }

  approversOf(tx: Tx, asked: AskedOfPeople): Promise<Approvers> {
    if (this.source === undefined) throw new Error('nobody registered who may approve');
    return this.source.approversOf(tx, asked);
  }
}
