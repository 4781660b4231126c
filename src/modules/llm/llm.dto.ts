import { ApiProperty } from '@nestjs/swagger';
import type { JsonValue } from '../../domain/json.js';
import { Flag, FreeValue, Integer, NestedList, Text, Timestamp } from '../../platform/http/fields/fields.js';

const MODEL = { min: 1, max: 200, doc: 'Name of the model.', example: 'gpt-4o-mini' } as const;

/** As the documentation shows it: what else there is goes to the provider as it stands. */
export class CompletionDto {
  @Text(MODEL)
  model!: string;

  @FreeValue({
    doc: 'The conversation: any JSON value that the format of the provider has.', example: [{ role: 'user', content: 'Good morning' }],
  })
  messages!: JsonValue;
}

export class ChatMessageDto {
  @Text({ min: 1, max: 20, doc: '`system`, `user` or `assistant`.', example: 'user' })
  role!: string;

  @Text({ max: 4_000_000, doc: 'What is said.', example: 'Good morning' })
  content!: string;
}

export class ChatDto {
  @Text(MODEL)
  model!: string;

  @NestedList(() => ChatMessageDto, { minItems: 1, maxItems: 10_000, doc: 'The conversation.' })
  messages!: ChatMessageDto[];

  @Text({ max: 100, optional: true, doc: 'For root: in whose log the call stands. An agent calls for itself.' })
  agentId?: string;

  @Flag({ optional: true, doc: 'Default true. `false` sends the text as it is, where the organization allows that.' })
  scanPii?: boolean;

  @Integer({ min: 1, max: 1_000_000, optional: true, doc: 'The most tokens that the answer may have.' })
  maxTokens?: number;
}

export class ScanDto {
  @Text({ max: 65_536, doc: 'What is to be scanned.', example: 'Write to ada@example.com' })
  text!: string;
}

export class UsageQuery {
  @Text({ max: 100, optional: true, doc: 'Only of this organization, for whoever sees several.' })
  organizationId?: string;

  @Text({ max: 100, optional: true, doc: 'Only this agent\'s.' })
  agentId?: string;

  @Timestamp({ optional: true, date: 'start', doc: 'Calls made at or after this moment. Default: 30 days ago.' })
  from?: Date;

  @Timestamp({ optional: true, date: 'end', doc: 'Calls made at or before this moment; at most 92 days after `from`. Default: now.' })
  to?: Date;
}

export class ChatUsage {
  @ApiProperty({ type: 'integer' }) promptTokens!: number;
  @ApiProperty({ type: 'integer' }) completionTokens!: number;
}

export class ChatReply {
  @ApiProperty({ description: 'What the model said.' }) content!: string;
  @ApiProperty() model!: string;
  @ApiProperty({ type: ChatUsage }) usage!: ChatUsage;
  @ApiProperty({ description: 'Personal data was found in what was sent here.' }) piiDetected!: boolean;
  @ApiProperty({ description: 'The provider did not get it.' }) piiRedacted!: boolean;
}

export class FoundEntityReply {
  @ApiProperty({ example: 'EMAIL_ADDRESS' }) type!: string;
  @ApiProperty({ description: 'As it stands in the text.' }) value!: string;
  @ApiProperty({ description: 'What would stand in its place.' }) redacted!: string;
}

export class ScanReply {
  @ApiProperty() detected!: boolean;
  @ApiProperty({ type: FoundEntityReply, isArray: true }) entities!: FoundEntityReply[];
  @ApiProperty() redactedText!: string;
}

export class ModelUsageReply {
  @ApiProperty({ format: 'date', description: 'Of the call, in UTC.' }) day!: string;
  @ApiProperty({ example: 'agt_…' }) agentId!: string;
  @ApiProperty({ description: 'As the call named it; empty where the record is blanked.' }) model!: string;
  @ApiProperty({ type: 'integer' }) calls!: number;
  @ApiProperty({ type: 'integer', description: 'Of these, the ones without a whole answer.' }) failed!: number;
  @ApiProperty({ type: 'integer' }) promptTokens!: number;
  @ApiProperty({ type: 'integer' }) completionTokens!: number;
}

export class LlmUsageReply {
  @ApiProperty({ format: 'date-time' }) from!: string;
  @ApiProperty({ format: 'date-time' }) to!: string;
  @ApiProperty({ type: ModelUsageReply, isArray: true }) usage!: ModelUsageReply[];
}

/** One list that the clients of both families read. */
export class ModelReply {
  @ApiProperty() id!: string;
  @ApiProperty({ enum: ['model'] }) object!: string;
  @ApiProperty({ enum: ['model'] }) type!: string;
  @ApiProperty({ type: 'integer', description: 'Unix seconds.' }) created!: number;
  @ApiProperty({ format: 'date-time' }) created_at!: string;
  @ApiProperty({ description: 'The provider, as this installation calls it.' }) owned_by!: string;
  @ApiProperty() display_name!: string;
}

export class ModelListReply {
  @ApiProperty({ enum: ['list'] }) object!: string;
  @ApiProperty({ type: ModelReply, isArray: true }) data!: ModelReply[];
  @ApiProperty() has_more!: boolean;
  @ApiProperty({ type: String, nullable: true }) first_id!: string | null;
  @ApiProperty({ type: String, nullable: true }) last_id!: string | null;
}

/** A refusal as the clients of both vendors read it. */
export class VendorErrorReply {
  @ApiProperty({ enum: ['error'], required: false, description: "In Anthropic's format." }) type?: string;
  @ApiProperty({
    type: 'object', selfRequired: true, additionalProperties: true, required: ['message', 'type'],
    description: "What the problem would say: `code` is this service's, null where the provider refused; `type` the vendor's word for it.",
    properties: { message: { type: 'string' }, type: { type: 'string' }, code: { type: 'string', nullable: true } },
  }) error!: Readonly<Record<string, JsonValue>>;
  @ApiProperty({ required: false, description: "In Anthropic's format." }) request_id?: string;
}
