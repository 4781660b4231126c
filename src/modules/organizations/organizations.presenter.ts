import { ApiProperty } from '@nestjs/swagger';
import type { JsonObject } from '../../domain/json.js';
import { SEPARATIONS, type SeparationOfDuties } from '../../domain/hitl/duties.js';
import { piiSettings } from '../../domain/pii/settings.js';
import { type OrganizationEntity, SCAN_PII, type ScanPii } from './organization.entity.js';

export class OrganizationSettingsReply {
  @ApiProperty({ enum: SEPARATIONS }) separationOfDuties!: SeparationOfDuties;
  @ApiProperty({ description: 'Links in mails decide, without signing in.' }) decideByMail!: boolean;
  @ApiProperty({ enum: SCAN_PII, description: 'Whether calls to models may leave the scan out.' }) scanPii!: ScanPii;
  @ApiProperty({ type: Object, additionalProperties: true, description: 'What the scan looks for and does.' }) pii!: JsonObject;
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
  const { id, name, tenantId, separationOfDuties, decideByMail, scanPii, pii, createdAt, updatedAt } = organization;
  return {
    id,
    name,
    ...(tenantId === null ? {} : { tenantId }),
    settings: { separationOfDuties, decideByMail, scanPii, pii: { ...piiSettings(pii ?? {}) } as unknown as JsonObject },
    createdAt: createdAt.toISOString(),
    updatedAt: updatedAt.toISOString(),
  };
}
