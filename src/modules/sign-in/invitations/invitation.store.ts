import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { type Scope, scopeCondition } from '../../../platform/auth/access/scope.js';
import type { Tx } from '../../../platform/database/transaction/tx.js';
import { Problem } from '../../../platform/http/reply/problem.js';
import type { Invitation } from './invitation.js';

/** Where an invitation stands: enough to lock its organization's chain before anything of it is read. */
export interface InvitationRef {
  readonly organizationId: string;
  readonly id: string;
}

/** With the organization of whoever invited, whose role is judged; their own where that is the same. */
export interface FoundInvitation extends Invitation {
  readonly organizationName: string;
  readonly inviterOrganizationId: string | null;
}

export const INVITATION_COLUMNS = `i.organization_id as "organizationId", i.id, i.email, i.email_folded as "emailFolded", i.name, i.role,
  i.user_id as "userId", i.delivery, i.invited_by as "invitedBy", i.created_at as "createdAt", i.expires_at as "expiresAt",
  case when i.accepted_at is not null then 'accepted' when i.voided_at is not null then 'voided'
    when i.expires_at <= clock_timestamp() then 'expired' else 'open' end as status`;

const OPEN = 'i.accepted_at is null and i.voided_at is null and i.expires_at > clock_timestamp()';
const FOUND_COLUMNS = `${INVITATION_COLUMNS}, o.name as "organizationName", u.organization_id as "inviterOrganizationId"`;
const SOURCES = `
  from invitations i join organizations o on o.id = i.organization_id left join users u on u.id = i.invited_by`;
const FOUND = `select ${FOUND_COLUMNS} ${SOURCES}`;
const FOUND_AMONG = `select ${FOUND_COLUMNS},
  min(coalesce(o.tenant_id, '')) over () <> max(coalesce(o.tenant_id, '')) over () as "ofSeveral" ${SOURCES}`;

/** Rows of invitations. Whoever accepts or voids one holds the organization's head. */
@Injectable()
export class InvitationStore {
  constructor(@InjectDataSource() private readonly dataSource: DataSource) {}

  /** @throws Problem NOT_FOUND, also for one of another organization */
  async findRef(scope: Scope, id: string): Promise<InvitationRef> {
    const within = scopeCondition(scope, { organization: 'i.organization_id' }, 2);
    const [row] = (await this.dataSource.query(
      `select i.organization_id as "organizationId", i.id from invitations i where i.id = $1 and ${within.sql}`, [id, ...within.parameters],
    )) as InvitationRef[];
    if (!row) throw new Problem('NOT_FOUND', 'There is no such invitation.');
    return row;
  }

  async read(tx: Tx, { organizationId, id }: InvitationRef): Promise<Invitation | undefined> {
    const [row] = await tx.query<Invitation>(
      `select ${INVITATION_COLUMNS} from invitations i where i.organization_id = $1 and i.id = $2`, [organizationId, id],
    );
    return row;
  }

  /** One that may still be accepted, by the digest of its token. */
  async openByToken(tx: Tx, tokenHash: string): Promise<FoundInvitation | undefined> {
    return (await tx.query<FoundInvitation>(`${FOUND} where i.token_hash = $1 and ${OPEN}`, [tokenHash]))[0];
  }

  /**
   * The one of an address that may still be accepted; of several of one tenant the newest, for whoever invited last knows best.
   * Organizations without a tenant are one customer's.
   *
   * @param within a tenant, or one of its organizations; everywhere where there is none
   * @returns `several` where those of more than one tenant are open: none of them may take somebody from another
   */
  async openOfAddress(tx: Tx, emailFolded: string, within: string | undefined): Promise<FoundInvitation | 'several' | undefined> {
    const [row] = await tx.query<FoundInvitation & { ofSeveral: boolean }>(
      `${FOUND_AMONG} where i.email_folded = $1 and ${OPEN} and ($2::text is null or $2 = o.id or $2 = o.tenant_id)
       order by i.created_at desc, i.id desc limit 1`,
      [emailFolded, within ?? null],
    );
    if (row === undefined) return undefined;
    const { ofSeveral, ...found } = row;
    return ofSeveral ? 'several' : found;
  }

  /** Whether an address is invited to an organization already. */
  async isOpen(tx: Tx, organizationId: string, emailFolded: string): Promise<boolean> {
    const rows = await tx.query(
      `select 1 as one from invitations i where i.organization_id = $1 and i.email_folded = $2 and ${OPEN} limit 1`,
      [organizationId, emailFolded],
    );
    return rows.length > 0;
  }

  async insert(tx: Tx, invitation: Invitation, tokenHash: string): Promise<void> {
    const { organizationId, id, email, emailFolded, name, role, userId, delivery, invitedBy, createdAt, expiresAt } = invitation;
    await tx.query(
      `insert into invitations (organization_id, id, email, email_folded, name, role, user_id, token_hash, delivery, invited_by,
         created_at, expires_at)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
      [organizationId, id, email, emailFolded, name, role, userId, tokenHash, delivery, invitedBy, createdAt, expiresAt],
    );
  }

  /** @returns whether it could still be accepted: of many at once one does */
  async accept(tx: Tx, { organizationId, id }: InvitationRef, userId: string): Promise<boolean> {
    const rows = await tx.query(
      `update invitations i set accepted_at = clock_timestamp(), accepted_by = $3, user_id = $3
       where i.organization_id = $1 and i.id = $2 and ${OPEN} returning i.id`,
      [organizationId, id, userId],
    );
    return rows.length > 0;
  }
}
