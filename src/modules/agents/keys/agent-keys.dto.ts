import { Text, Timestamp } from '../../../platform/http/fields/fields.js';
import { PageQuery } from '../../../platform/http/fields/pagination.js';

export class MakeAgentKeyDto {
  @Text({ min: 1, max: 100, singleLine: true, doc: 'What it is for, so that it can be told from others.', example: 'nightly run' })
  name!: string;

  @Timestamp({ optional: true, nullable: true, doc: 'When it ends by itself. Must lie ahead. Default: never.' })
  expiresAt?: Date;
}

export class AgentKeyListQuery extends PageQuery {}
