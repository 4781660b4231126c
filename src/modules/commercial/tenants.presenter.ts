import { ApiProperty } from '@nestjs/swagger';
import { TIERS, type Tier } from '../../domain/access/tiers.js';
import type { Tenant } from '../organizations/tenant.store.js';
import type { Usage } from './usage.query.js';

export class TenantReply {
  @ApiProperty({ example: 'ten_…' }) id!: string;
  @ApiProperty() name!: string;
  @ApiProperty({ enum: TIERS }) tier!: Tier;
  @ApiProperty({ description: 'Whether the subscription is paid; if not, the limits of `personal` hold.' }) active!: boolean;
  @ApiProperty({ enum: ['active', 'deleted'] }) status!: 'active' | 'deleted';
  @ApiProperty({
    type: String, nullable: true, example: 'org_…',
    description: 'The organization of new people whose provider names the tenant alone.',
  })
  firstOrganizationId!: string | null;
  @ApiProperty({ format: 'date-time' }) createdAt!: string;
  @ApiProperty({ format: 'date-time' }) updatedAt!: string;
}

export class TenantEnvelope {
  @ApiProperty({ type: TenantReply }) tenant!: TenantReply;
}

export class TenantListReply {
  @ApiProperty({ type: TenantReply, isArray: true }) tenants!: TenantReply[];
  @ApiProperty({ type: 'integer' }) total!: number;
  @ApiProperty({ required: false, description: 'For `cursor`, when more follow.' }) nextCursor?: string;
}

export class UsageReply {
  @ApiProperty({ type: 'integer', description: 'Open accounts now.' }) users!: number;
  @ApiProperty({ type: 'integer', description: 'Agents now, but for removed ones.' }) agents!: number;
  @ApiProperty({ type: 'integer' }) organizations!: number;
  @ApiProperty({ type: 'integer' }) teams!: number;
  @ApiProperty({ type: 'integer', description: 'Executions that were asked for in that time.' }) executions!: number;
  @ApiProperty({ format: 'date-time' }) from!: string;
  @ApiProperty({ format: 'date-time' }) to!: string;
}

export class UsageEnvelope {
  @ApiProperty({ type: UsageReply }) usage!: UsageReply;
}

export function presentTenant(tenant: Tenant): TenantReply {
  const { id, name, tier, subscriptionActive: active, status, firstOrganizationId, createdAt, updatedAt } = tenant;
  return { id, name, tier, active, status, firstOrganizationId, createdAt: createdAt.toISOString(), updatedAt: updatedAt.toISOString() };
}

export function presentUsage({ from, to, ...counts }: Usage): UsageReply {
  return { ...counts, from: from.toISOString(), to: to.toISOString() };
}
