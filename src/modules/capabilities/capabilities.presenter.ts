import { ApiProperty } from '@nestjs/swagger';
import type { Connector } from '../../domain/gate/connector.js';
import type { JsonObject } from '../../domain/json.js';
import { CONNECTOR_REPLY } from './document/connector.dto.js';
import type { Definition } from './definition.js';
import { HITL_MODE } from './document/mode-words.js';

export class CapabilityReply {
  @ApiProperty({ example: 'email.send', description: 'The name.' }) id!: string;
  @ApiProperty({ example: 'email.send' }) name!: string;
  @ApiProperty() description!: string;
  @ApiProperty() category!: string;
  @ApiProperty(HITL_MODE.member) defaultHitlMode!: string;
  @ApiProperty({ description: 'Always escalate, whatever a grant says.' }) hardcoded!: boolean;
  @ApiProperty({ type: 'integer', minimum: 0, maximum: 100 }) riskScore!: number;
  @ApiProperty({ type: Object, additionalProperties: true, nullable: true, description: 'JSON Schema of the input.' })
  inputSchema!: JsonObject | null;
  @ApiProperty({
    ...CONNECTOR_REPLY.member, required: false, description: 'What the service does itself. Shown to whoever may define capabilities.',
  })
  connector?: Connector;
}

export class CapabilityEnvelope {
  @ApiProperty({ type: CapabilityReply }) capability!: CapabilityReply;
}

export class CapabilityListReply {
  @ApiProperty({ type: CapabilityReply, isArray: true }) capabilities!: CapabilityReply[];
}

/** @param withConnector where a call goes is for administrators; agents and readers of the catalogue do not see it */
export function presentCapability(definition: Definition, withConnector: boolean): CapabilityReply {
  const { name, description, category, defaultHitlMode, hardcoded, riskScore, inputSchema, connector } = definition;
  return {
    id: name,
    name,
    description,
    category,
    defaultHitlMode,
    hardcoded,
    riskScore,
    inputSchema,
    ...(withConnector && connector ? { connector } : {}),
  };
}
