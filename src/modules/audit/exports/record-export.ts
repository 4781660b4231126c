import type { AuditEvent } from '../../../domain/audit/catalogue/audit-events.js';
import { organizationChain } from '../../../domain/audit/entry/chain.js';
import type { UnitOfWork } from '../../../platform/database/transaction/unit-of-work.js';

/** Chains that one unit of work locks: an export of everything concerns as many organizations as there are. */
const CHAINS_AT_ONCE = 100;

/**
 * Records an export in each of these organizations; returns when all of that is committed. In units of work that read nothing: the heads
 * that they have are those that an emergency stop waits for.
 */
export async function recordExport(work: UnitOfWork, organizations: readonly string[], event: AuditEvent): Promise<void> {
  for (let at = 0; at < organizations.length; at += CHAINS_AT_ONCE) {
    const chains = organizations.slice(at, at + CHAINS_AT_ONCE).map(organizationChain);
    await work.run({ chains, leavesFacts: true }, async (tx) => {
      for (const chain of chains) tx.record(chain, event);
      await Promise.resolve();
    });
  }
}
