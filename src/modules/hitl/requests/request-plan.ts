import { agentChain } from '../../../domain/audit/entry/chain.js';
import type { Plan } from '../../../platform/database/transaction/plan.js';

/**
 * The locks of every unit of work on a request: the head of its agent, which orders all changes of the request, and the barrier of
 * the organization by whose facts it is decided. Also for an agent that has left the organization: its requests are all ended, and a
 * decision on one is refused with the request's status.
 */
export function planFor({ organizationId, agentId }: { organizationId: string; agentId: string }): Plan {
  return { chains: [agentChain(organizationId, agentId)], judges: [organizationId], leavesFacts: true, evenIfClosed: true };
}
