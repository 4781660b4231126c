import type { AuditEvent } from '../../../domain/audit/catalogue/audit-events.js';
import { organizationChain } from '../../../domain/audit/entry/chain.js';
import type { Tx } from '../../../platform/database/transaction/tx.js';

type ChannelChange = Extract<AuditEvent, { type: 'admin.channel_configured' }>['metadata'];

/** @param actorId who did it, where that is not the caller */
export function recordChannel(tx: Tx, organizationId: string, metadata: ChannelChange, actorId?: string): void {
  tx.record(organizationChain(organizationId), { type: 'admin.channel_configured', metadata }, actorId === undefined ? {} : { actorId });
}
