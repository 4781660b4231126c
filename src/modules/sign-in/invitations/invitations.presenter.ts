import { ApiProperty } from '@nestjs/swagger';
import { ROLES, type Role } from '../../../domain/access/access.js';
import type { Delivery } from '../../../domain/access/invitation.js';
import type { Invitation, InvitationStatus } from './invitation.js';

export class InvitationReply {
  @ApiProperty({ example: 'inv_…' }) id!: string;
  @ApiProperty() email!: string;
  @ApiProperty({ type: String, nullable: true }) name!: string | null;
  @ApiProperty({ enum: ROLES }) role!: Role;
  @ApiProperty({ example: 'org_…' }) organizationId!: string;
  @ApiProperty({ required: false, example: 'usr_…', description: 'The account, where there is one.' }) userId?: string;
  @ApiProperty({ enum: ['open', 'accepted', 'voided', 'expired'] }) status!: InvitationStatus;
  @ApiProperty({ enum: ['mail', 'hand'], description: 'How the link goes to whom it is for.' }) delivery!: Delivery;
  @ApiProperty({ format: 'date-time' }) createdAt!: string;
  @ApiProperty({ format: 'date-time' }) expiresAt!: string;
}

export class NewInvitationReply {
  @ApiProperty({ type: InvitationReply }) invitation!: InvitationReply;
  @ApiProperty({
    type: String, required: false, nullable: true,
    description: 'Where no mail is sent: good once, and shown once (null when an Idempotency-Key is used again). Hand it to its owner '
      + 'alone.',
  })
  link?: string | null;
}

export class InvitationListReply {
  @ApiProperty({ type: InvitationReply, isArray: true }) invitations!: InvitationReply[];
  @ApiProperty({ type: 'integer' }) total!: number;
  @ApiProperty({ required: false, description: 'For `cursor`, when more follow.' }) nextCursor?: string;
}

export function presentInvitation(
  { id, email, name, role, organizationId, userId, status, delivery, createdAt, expiresAt }: Invitation,
): InvitationReply {
  return {
    id, email, name, role, organizationId, ...(userId === null ? {} : { userId }), status, delivery,
    createdAt: createdAt.toISOString(), expiresAt: expiresAt.toISOString(),
  };
}
