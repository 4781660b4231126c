import type { AuditEvent } from '../../domain/audit/catalogue.js';
import { organizationChain } from '../../domain/audit/chain.js';
import type { Tx } from '../../platform/database/tx.js';
import type { TeamPlace } from './team.store.js';

/** The members of `admin.team_changed` besides the team's id. */
type TeamChange = Omit<Extract<AuditEvent, { type: 'admin.team_changed' }>['metadata'], 'teamId'>;

export function recordTeam(tx: Tx, { organizationId, id }: TeamPlace, change: TeamChange): void {
  tx.record(organizationChain(organizationId), { type: 'admin.team_changed', metadata: { teamId: id, ...change } });
}
