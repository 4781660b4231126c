import { organizationChain } from '../../domain/audit/entry/chain.js';
import type { Plan } from '../../platform/database/transaction/plan.js';

/**
 * A change of what all of an organization shares: settings, accounts, roles, keys, teams, definitions. Such changes stand in line at the
 * organization's barrier: decisions that rest on the former facts end first or are taken again, and none is committed meanwhile.
 */
export function sharedChange(organizationId: string): Plan {
  return { chains: [organizationChain(organizationId)], changesShared: [organizationId] };
}
