import { ApiProperty } from '@nestjs/swagger';
import { HITL_MODES } from '../../domain/gate/vocabulary.js';
import type { JsonObject } from '../../domain/json.js';
import type { Definition } from './definition.js';

export class CapabilityReply {
  @ApiProperty({ example: 'email.send', description: 'The name.' }) id!: string;
  @ApiProperty({ example: 'email.send' }) name!: string;
  @ApiProperty() description!: string;
  @ApiProperty() category!: string;
  @ApiProperty({ enum: HITL_MODES }) defaultHitlMode!: string;
  @ApiProperty({ description: 'Always escalate, whatever a grant says.' }) hardcoded!: boolean;
  @ApiProperty({ type: 'integer', minimum: 0, maximum: 100 }) riskScore!: number;
  @ApiProperty({ type: Object, nullable: true, description: 'JSON Schema of the input.' }) inputSchema!: JsonObject | null;
  @ApiProperty({ type: Object, required: false, description: 'The HTTP call that the service makes.' }) connector?: JsonObject;
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
    ...(withConnector && connector ? { connector: connector as unknown as JsonObject } : {}),
  };
}
