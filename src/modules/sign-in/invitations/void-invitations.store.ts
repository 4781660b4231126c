import { organizationChain } from '../../../domain/audit/chain.js';
import type { Tx } from '../../../platform/database/tx.js';
import type { SessionPlace } from '../seams/sessions.js';

/**
 * For a work that holds the heads of their organizations: nobody comes in by these invitations any more. Those that were accepted, or
 * have ended, are left as they are.
 *
 * @param by the actor: who asked, or `system`
 * @returns how many ended now
 */
export async function voidInvitations(tx: Tx, places: readonly SessionPlace[], by: string): Promise<number> {
  const voided = await tx.query<SessionPlace>(
    `update invitations set voided_at = clock_timestamp()
     where (organization_id, id) in (select * from unnest($1::text[], $2::text[])) and accepted_at is null and voided_at is null
     returning organization_id as "organizationId", id`,
    [places.map(({ organizationId }) => organizationId), places.map(({ id }) => id)],
  );
  for (const { organizationId, id: invitationId } of voided) {
    const metadata = { invitationId, change: 'voided' };
    tx.record(organizationChain(organizationId), { type: 'admin.invitation_ended', metadata }, { actorId: by });
  }
  return voided.length;
}
