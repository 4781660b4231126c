import { Injectable } from '@nestjs/common';
import type { Tx } from '../../platform/database/transaction/tx.js';
import type { TeamRef } from './team.store.js';

/** What a person is in a team: leads decide what has been escalated once. */
export const TEAM_ROLES = ['member', 'lead'] as const;
export type TeamRole = (typeof TEAM_ROLES)[number];

export interface Membership {
  role: TeamRole;
  /** When the person joined, whatever their role has been. */
  since: Date;
}

/**
 * Members of teams. Rows of closed accounts may stay and count for nothing, so every query of members joins the active users.
 */
@Injectable()
export class MemberStore {
  async find(tx: Tx, { organizationId, id }: TeamRef, userId: string): Promise<Membership | undefined> {
    const [row] = await tx.query<Membership & Record<string, unknown>>(
      'select role, since from team_members where organization_id = $1 and team_id = $2 and user_id = $3',
      [organizationId, id, userId],
    );
    return row;
  }

  async insert(tx: Tx, { organizationId, id }: TeamRef, userId: string, { role, since }: Membership): Promise<void> {
    await tx.query(
      `insert into team_members (organization_id, team_id, user_id, role, since, role_since) values ($1, $2, $3, $4, $5, $5)`,
      [organizationId, id, userId, role, since],
    );
  }

  /** @param since when the member got the role */
  async changeRole(tx: Tx, { organizationId, id }: TeamRef, userId: string, role: TeamRole, since: Date): Promise<void> {
    await tx.query(
      `update team_members set role = $4, role_since = $5 where organization_id = $1 and team_id = $2 and user_id = $3`,
      [organizationId, id, userId, role, since],
    );
  }

  async remove(tx: Tx, { organizationId, id }: TeamRef, userId: string): Promise<void> {
    await tx.query('delete from team_members where organization_id = $1 and team_id = $2 and user_id = $3', [
      organizationId, id, userId,
    ]);
  }
}
