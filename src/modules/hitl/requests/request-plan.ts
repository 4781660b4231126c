import { agentChain } from '../../../domain/audit/entry/chain.js';
import type { Plan } from '../../../platform/database/transaction/plan.js';

/**
 * What every work on a request takes hold of: the head of its agent, from which all that happens to the request has its order, and
 * the barrier of the organization, by whose rules it is judged. Of an agent that has left, too: every request is ended, and whoever
 * decides on one is told so.
 */
export function planFor({ organizationId, agentId }: { organizationId: string; agentId: string }): Plan {
  return { chains: [agentChain(organizationId, agentId)], judges: [organizationId], leavesFacts: true, evenIfClosed: true };
}
