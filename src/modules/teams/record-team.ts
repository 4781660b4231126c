import type { AuditEvent } from '../../domain/audit/catalogue/audit-events.js';
import { organizationChain } from '../../domain/audit/entry/chain.js';
import type { Tx } from '../../platform/database/transaction/tx.js';
import type { TeamRef } from './team.store.js';

/** The members of `admin.team_changed` besides the team's id. */
type TeamChange = Omit<Extract<AuditEvent, { type: 'admin.team_changed' }>['metadata'], 'teamId'>;

export function recordTeam(tx: Tx, { organizationId, id }: TeamRef, change: TeamChange): void {
  tx.record(organizationChain(organizationId), { type: 'admin.team_changed', metadata: { teamId: id, ...change } });
}
