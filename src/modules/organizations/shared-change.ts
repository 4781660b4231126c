import { organizationChain } from '../../domain/audit/entry/chain.js';
import type { Plan } from '../../platform/database/transaction/plan.js';

/**
 * A change of what all of an organization shares: settings, accounts, roles, keys, teams, definitions. Such changes stand in line at the
 * organization's chain; decisions under way are taken again, and the answer waits until none rests on what was before.
 */
export function sharedChange(organizationId: string): Plan {
  return { chains: [organizationChain(organizationId)], changesShared: [organizationId] };
}
