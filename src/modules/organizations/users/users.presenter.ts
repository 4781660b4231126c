import { ApiProperty } from '@nestjs/swagger';
import { ROLES, type Role } from '../../../domain/access/access.js';
import type { UserStatus } from './user.entity.js';
import type { UserRow } from './users.query.js';

export class UserReply {
  @ApiProperty({ example: 'usr_…' }) id!: string;
  @ApiProperty({ type: String, nullable: true }) email!: string | null;
  @ApiProperty({ type: String, nullable: true }) name!: string | null;
  @ApiProperty({ type: String, nullable: true }) avatarUrl!: string | null;
  @ApiProperty({ enum: ROLES }) role!: Role;
  @ApiProperty({ example: 'org_…' }) organizationId!: string;
  @ApiProperty({ enum: ['active', 'deleted', 'erased'] }) status!: UserStatus;
  @ApiProperty({ format: 'date-time' }) createdAt!: string;
}

export class UserEnvelope {
  @ApiProperty({ type: UserReply }) user!: UserReply;
}

export class UserListReply {
  @ApiProperty({ type: UserReply, isArray: true }) users!: UserReply[];
  @ApiProperty({ type: 'integer' }) total!: number;
  @ApiProperty({ required: false, description: 'For `cursor`, when more follow.' }) nextCursor?: string;
}

export function presentUser({ id, email, name, avatarUrl, role, organizationId, status, createdAt }: UserRow): UserReply {
  return { id, email, name, avatarUrl, role, organizationId, status, createdAt: createdAt.toISOString() };
}
