import { agentChain } from '../../../domain/audit/entry/chain.js';
import type { Plan } from '../../../platform/database/transaction/plan.js';

interface RequestOfAgent {
  readonly organizationId: string;
  readonly agentId: string;
  /** Of a task's request: the agents before its own, by whose facts too it is decided. */
  readonly taskChain?: readonly string[] | null;
}

/**
 * The locks of every unit of work on a request: the head of its agent, which orders all changes of the request, and the barrier of
 * the organization by whose facts it is decided. Also for an agent that has left the organization: its requests are all ended, and a
 * decision on one is refused with the request's status.
 */
export function planFor({ organizationId, agentId, taskChain }: RequestOfAgent): Plan {
  const agents = [...new Set([...(taskChain ?? []), agentId])];
  return { chains: agents.map((id) => agentChain(organizationId, id)), judges: [organizationId], leavesFacts: true, evenIfClosed: true };
}
