import { ApiProperty } from '@nestjs/swagger';
import type { AgentKey } from './agent-key.store.js';

export class AgentKeyReply {
  @ApiProperty({ example: 'key_…' }) id!: string;
  @ApiProperty() name!: string;
  @ApiProperty({ format: 'date-time' }) createdAt!: string;
  @ApiProperty({ example: 'usr_…', description: 'Who made it, and so vouches for what comes by it.' }) createdBy!: string;
  @ApiProperty({ format: 'date-time', required: false }) expiresAt?: string;
}

export class NewAgentKeyReply {
  @ApiProperty({ type: AgentKeyReply }) key!: AgentKeyReply;
  @ApiProperty({
    type: String, nullable: true, example: 'svc_agent_…',
    description: 'For `Authorization: Bearer`. Null in the replay of an Idempotency-Key: it is shown once.',
  })
  secret!: string | null;
}

export class AgentKeyListReply {
  @ApiProperty({ type: AgentKeyReply, isArray: true }) keys!: AgentKeyReply[];
  @ApiProperty({ type: 'integer' }) total!: number;
  @ApiProperty({ required: false, description: 'For `cursor`, when more follow.' }) nextCursor?: string;
}

export function presentAgentKey({ id, name, createdAt, createdBy, expiresAt }: AgentKey): AgentKeyReply {
  return { id, name, createdAt: createdAt.toISOString(), createdBy, ...(expiresAt === null ? {} : { expiresAt: expiresAt.toISOString() }) };
}
