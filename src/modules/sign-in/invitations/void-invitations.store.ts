import { organizationChain } from '../../../domain/audit/entry/chain.js';
import type { Tx } from '../../../platform/database/transaction/tx.js';
import type { SessionRef } from '../ports/sessions.js';

/**
 * For a work that holds the heads of their organizations: nobody comes in by these invitations any more. Those that were accepted, or
 * have ended, are left as they are.
 *
 * @param by the actor: who asked, or `system`
 * @returns how many ended now
 */
export async function voidInvitations(tx: Tx, refs: readonly SessionRef[], by: string): Promise<number> {
  const voided = await tx.query<SessionRef>(
    `update invitations set voided_at = clock_timestamp()
     where (organization_id, id) in (select * from unnest($1::text[], $2::text[])) and accepted_at is null and voided_at is null
     returning organization_id as "organizationId", id`,
    [refs.map(({ organizationId }) => organizationId), refs.map(({ id }) => id)],
  );
  for (const { organizationId, id: invitationId } of voided) {
    const metadata = { invitationId, change: 'voided' };
    tx.record(organizationChain(organizationId), { type: 'admin.invitation_ended', metadata }, { actorId: by });
  }
  return voided.length;
}
