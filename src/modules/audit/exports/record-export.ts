import type { AuditMetadata } from '../../../domain/audit/catalogue/audit-events.js';
import type { ChainRef } from '../../../domain/audit/entry/chain.js';
import type { UnitOfWork } from '../../../platform/database/transaction/unit-of-work.js';

/** Chains that one unit of work locks: an export of everything concerns as many organizations as there are. */
const CHAINS_AT_ONCE = 100;

/** Records in each organization that its log was exported; returns when all of that is committed. */
export async function recordExport(
  work: UnitOfWork, chains: readonly ChainRef[], metadata: AuditMetadata<'admin.audit_exported'>,
): Promise<void> {
  for (let at = 0; at < chains.length; at += CHAINS_AT_ONCE) {
    const some = chains.slice(at, at + CHAINS_AT_ONCE);
    await work.run({ chains: some, leavesFacts: true }, async (tx) => {
      for (const chain of some) tx.record(chain, { type: 'admin.audit_exported', metadata });
      await Promise.resolve();
    });
  }
}
