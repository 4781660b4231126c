import type { AuditEventType } from './audit-events.js';
import { isAgentChain } from '../entry/chain.js';

/**
 * By these entries an organization's own chain, or the platform's, tells facts that decisions about many agents rest on. The unit of
 * work that records one has the organization's barrier for itself and raises its revision: so no decision stands behind the entry in the
 * tree whose basis lies before it.
 */
const SHARED_FACTS: readonly AuditEventType[] = [
  'capability.granted', 'capability.config_updated', 'capability.revoked',
  'capability.defined', 'capability.definition_updated', 'capability.definition_removed',
  'admin.stop_started', 'admin.stop_ended', 'admin.organization_updated', 'admin.team_changed',
  'admin.user_created', 'admin.user_updated', 'admin.user_deleted', 'admin.user_key_created', 'admin.user_key_revoked',
];

const CHANGES: ReadonlySet<string> = new Set(SHARED_FACTS);

/** Whether such an entry changes what all agents of its organization share. The same event in an agent's chain concerns that agent. */
export function changesSharedFacts(chain: string, event: string): boolean {
  return CHANGES.has(event) && !isAgentChain(chain);
}
