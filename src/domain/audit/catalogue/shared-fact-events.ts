import type { AuditEventType } from './audit-events.js';
import { isAgentChain } from '../entry/chain.js';

/**
 * Entries in the chain of an organization, or the platform, with facts that decisions about many agents rest on. The unit of work that
 * records one holds the organization's barrier exclusively and raises its revision, so no later decision in the tree has an older basis.
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
