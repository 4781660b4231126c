import { ApiProperty } from '@nestjs/swagger';
import { RISK_LEVELS } from '../../domain/gate/vocabulary.js';
import type { JsonObject } from '../../domain/json.js';
import type { AgentRow } from './agents.query.js';
import { WarningReply } from './grants/grant-warnings.js';

export class AgentReply {
  @ApiProperty({ example: 'agt_…' }) id!: string;
  @ApiProperty({ example: 'org_…' }) organizationId!: string;
  @ApiProperty() name!: string;
  @ApiProperty({ required: false }) description?: string;
  @ApiProperty({ enum: RISK_LEVELS }) riskLevel!: string;
  @ApiProperty({ enum: ['active', 'deactivated'] }) status!: string;
  @ApiProperty({ type: String, isArray: true, description: 'Names of the capabilities it holds now.' }) capabilities!: string[];
  @ApiProperty({ type: String, isArray: true }) tags!: string[];
  @ApiProperty({ required: false, example: 'usr_…', description: 'Who answers for it; stays when that account is closed.' })
  ownerId?: string;
  @ApiProperty({ required: false, example: 'team_…' }) teamId?: string;
  @ApiProperty({ type: Object, additionalProperties: true, description: 'As it was given.' }) metadata!: JsonObject;
  @ApiProperty({ format: 'date-time' }) createdAt!: string;
  @ApiProperty({ format: 'date-time' }) updatedAt!: string;
  @ApiProperty({ format: 'date-time', required: false, description: 'When its node last sent a heartbeat, or asked for work.' })
  nodeLastSeen?: string;
  @ApiProperty({ required: false, description: 'What its node said of its load, 0 to 1.' }) nodeLoad?: number;
  @ApiProperty({ required: false, description: 'What its node said of its version.' }) nodeVersion?: string;
}

export class AgentEnvelope {
  @ApiProperty({ type: AgentReply }) agent!: AgentReply;
}

export class AgentListReply {
  @ApiProperty({ type: AgentReply, isArray: true }) agents!: AgentReply[];
  @ApiProperty({ type: 'integer' }) total!: number;
  @ApiProperty({ required: false, description: 'For `cursor`, when more follow.' }) nextCursor?: string;
}

export class TokenReply {
  @ApiProperty({
    type: String, nullable: true, description: 'Agent token (JWT, HS256). Null in the replay of an Idempotency-Key: it is shown once.',
  })
  token!: string | null;
  @ApiProperty({ format: 'date-time' }) expiresAt!: string;
}

export class RegistrationReply extends TokenReply {
  @ApiProperty({ type: AgentReply }) agent!: AgentReply;
  @ApiProperty({ type: WarningReply, isArray: true, required: false, description: 'What may not be what was meant.' })
  warnings?: WarningReply[];
}

export function presentAgent(agent: AgentRow): AgentReply {
  return {
    id: agent.id,
    organizationId: agent.organizationId,
    name: agent.name,
    ...(agent.description === null ? {} : { description: agent.description }),
    riskLevel: agent.riskLevel,
    status: agent.status,
    capabilities: agent.capabilities,
    tags: agent.tags,
    ...(agent.ownerId === null ? {} : { ownerId: agent.ownerId }),
    ...(agent.teamId === null ? {} : { teamId: agent.teamId }),
    metadata: agent.metadata,
    createdAt: agent.createdAt.toISOString(),
    updatedAt: agent.updatedAt.toISOString(),
    ...(agent.nodeLastSeen ? { nodeLastSeen: agent.nodeLastSeen.toISOString() } : {}),
    ...(typeof agent.nodeLoad === 'number' ? { nodeLoad: agent.nodeLoad } : {}),
    ...(agent.nodeVersion ? { nodeVersion: agent.nodeVersion } : {}),
  };
}
