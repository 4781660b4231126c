import { Injectable } from '@nestjs/common';
import { recordsNothing } from '../../platform/auth/access/call-context.js';
import type { AgentPrincipal, Caller } from '../../platform/auth/access/principal.js';
import { Statements } from '../../platform/database/statements/statements.js';
import { invalid } from '../../platform/http/fields/read-members.js';
import { Waiters } from '../../platform/wake/waiters.js';
import { type NodeState, saySeen } from '../agents/node-presence.store.js';
import { AnswerWorkService, type NodeResult } from './answer-work.service.js';
import type { WorkResultDto } from './node.dto.js';
import { nodeTopic } from './node.runtime.js';
import { NodeWorkQuery } from './node-work.query.js';
import { NodeWorkStore } from './node-work.store.js';
import type { Lease } from './work.js';
import { notInToken } from './start-work.service.js';

const CODE = 'NODE_ERROR';

export interface Heartbeat {
  readonly agentId: string;
  readonly nodeLastSeen: Date;
  readonly cancelled: readonly string[];
}

/** What nodes send, but for the start of work: heartbeats, polls for work, and results. */
@Injectable()
export class NodeService {
  constructor(
    private readonly statements: Statements,
    private readonly store: NodeWorkStore,
    private readonly query: NodeWorkQuery,
    private readonly answers: AnswerWorkService,
    private readonly waiters: Waiters,
  ) {}

  async heartbeat(state: NodeState, caller: Caller): Promise<Heartbeat> {
    recordsNothing();
    const node = nodeOf(caller);
    const nodeLastSeen = await saySeen(this.statements, { organizationId: node.organizationId, id: node.agentId }, state);
    return { agentId: node.agentId, nodeLastSeen, cancelled: await this.query.cancelled(node) };
  }

  /**
   * The oldest work that waits for a node of the agent. Nothing of the input is in it.
   *
   * @throws Problem CAPABILITY_NOT_IN_TOKEN where work waits, and all of it is of what the token does not hold
   * @param wait seconds for which the answer is held until there is work; no connection is held meanwhile
   */
  async lease(wait: number, caller: Caller): Promise<Lease | undefined> {
    recordsNothing();
    const node = nodeOf(caller);
    let isThere = true;
    const next = async () => {
      const lease = await this.next(node, isThere);
      isThere = false;
      return lease;
    };
    return this.waiters.until(nodeTopic(node.agentId), caller, wait, next, (lease) => lease !== undefined);
  }

  /** @throws Problem VALIDATION_FAILED, and what `AnswerWorkService.answer` throws */
  async result(executionId: string, { fence, status, output, error }: WorkResultDto, caller: Caller): Promise<{ isLate: boolean }> {
    const wrong = (pointer: string, message: string) => invalid([{ pointer, message }]);
    if (status === 'executed' && error !== undefined) throw wrong('/error', 'must be left out where it was executed');
    if (status !== 'executed' && error === undefined) throw wrong('/error', `is required where it is ${status}`);
    if (status === 'indeterminate' && output !== undefined) throw wrong('/output', 'must be left out where nobody knows what was done');
    const result: NodeResult = {
      status,
      ...(status === 'executed' ? { output: output ?? null } : output === undefined ? {} : { output }),
      ...(error === undefined ? {} : { error: { code: error.code ?? CODE, message: error.message } }),
    };
    return this.answers.answer(executionId, fence, result, nodeOf(caller));
  }

  private async next(node: AgentPrincipal, isThere: boolean): Promise<Lease | undefined> {
    const { lease, withheld } = await this.store.batches.poll({ node, isThere });
    // Without a word the node of an old token would never learn that there is something to do.
    if (withheld !== undefined) throw notInToken(withheld);
    return lease;
  }
}

/** The access table lets agents alone come here. */
export function nodeOf({ principal }: Caller): AgentPrincipal {
  return principal as AgentPrincipal;
}
