import { ApiProperty } from '@nestjs/swagger';
import { SEPARATIONS, type SeparationOfDuties } from '../../domain/hitl/duties.js';
import type { OrganizationEntity } from './organization.entity.js';

export class OrganizationSettingsReply {
  @ApiProperty({ enum: SEPARATIONS }) separationOfDuties!: SeparationOfDuties;
  @ApiProperty({ description: 'Links in mails decide, without signing in.' }) decideByMail!: boolean;
  @ApiProperty({ enum: ['optional'], description: 'Always `optional` yet.' }) scanPii!: string;
}

export class OrganizationReply {
  @ApiProperty({ example: 'org_…' }) id!: string;
  @ApiProperty() name!: string;
  @ApiProperty({ required: false, example: 'ten_…' }) tenantId?: string;
  @ApiProperty({ type: OrganizationSettingsReply }) settings!: OrganizationSettingsReply;
  @ApiProperty({ format: 'date-time' }) createdAt!: string;
  @ApiProperty({ format: 'date-time' }) updatedAt!: string;
}

export class OrganizationEnvelope {
  @ApiProperty({ type: OrganizationReply }) organization!: OrganizationReply;
}

export class OrganizationListReply {
  @ApiProperty({ type: OrganizationReply, isArray: true }) organizations!: OrganizationReply[];
  @ApiProperty({ type: 'integer' }) total!: number;
  @ApiProperty({ required: false, description: 'For `cursor`, when more follow.' }) nextCursor?: string;
}

export function presentOrganization(organization: OrganizationEntity): OrganizationReply {
  const { id, name, tenantId, separationOfDuties, decideByMail, createdAt, updatedAt } = organization;
  return {
    id,
    name,
    ...(tenantId === null ? {} : { tenantId }),
    settings: { separationOfDuties, decideByMail, scanPii: 'optional' },
    createdAt: createdAt.toISOString(),
    updatedAt: updatedAt.toISOString(),
  };
}
