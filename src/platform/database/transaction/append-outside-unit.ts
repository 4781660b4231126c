import type { ChainRef } from '../../../domain/audit/entry/chain.js';
import { prepareEntry, type RecordedEvent } from '../../../domain/audit/entry/prepare-entry.js';
import type { AuditEvent } from '../../../domain/audit/catalogue/audit-events.js';
import { newId } from '../../../domain/ids.js';
import { currentActor, currentOrigin } from '../../auth/access/call-context.js';
import type { RunStatement } from '../../auth/credentials/credential-source.js';
import { APPEND_ENTRIES, entryColumns, subjectColumns } from './chain-writer.js';

/**
 * Appends one entry to a chain that is no agent's, within a transaction that is no unit of work: the leader's, where the entry and
 * the checkpoint over it must be committed together. @returns the entry's id
 */
export async function appendOutsideUnit(run: RunStatement, chain: ChainRef, event: AuditEvent): Promise<string> {
  const origin = currentOrigin();
  const stamp = { id: newId('audit'), actorId: currentActor(), timestamp: new Date(), ...(origin ? { origin } : {}) };
  const entry = prepareEntry({ ...event, chain } as RecordedEvent, stamp);
  await run('select 1 from audit_heads where organization_id = $1 and chain = $2 for update', [chain.organizationId, chain.chain]);
  await run(APPEND_ENTRIES, [...entryColumns([entry]), ...subjectColumns([entry])]);
  return entry.id;
}
