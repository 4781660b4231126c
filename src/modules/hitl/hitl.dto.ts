import { EMAIL_ADDRESS_MAX } from '../../domain/access/person.js';
import type { JsonObject } from '../../domain/json.js';
import { HITL_STATUSES } from '../../domain/hitl/transition.js';
import { Flag, FreeObject, Integer, OneOf, Text, Timestamp } from '../../platform/http/fields/fields.js';
import { PageQuery } from '../../platform/http/fields/pagination.js';

export const DIGEST = /^[0-9a-f]{64}$/;

export class FormQuery {
  @OneOf(['snake', 'camel'], { optional: true, doc: 'Spelling of the answer\'s members.' })
  form?: 'snake' | 'camel';
}

export class RequestWaitQuery extends FormQuery {
  @Integer({ min: 0, max: 55, optional: true, doc: 'Seconds to hold the answer until the request is final.' })
  wait?: number;
}

export class RequestListQuery extends PageQuery {
  @OneOf(HITL_STATUSES, { optional: true, doc: 'Only of this status, for example `pending`.' })
  status?: string;

  @Text({ max: 100, optional: true, doc: 'Only of this organization, for whoever sees several.' })
  organizationId?: string;

  @Text({ max: 100, optional: true, doc: 'Only this agent\'s.' })
  agentId?: string;

  @Text({ max: 200, optional: true, doc: 'Only of this capability.' })
  capability?: string;

  @Integer({ min: 0, max: 2, optional: true, aliases: ['escalationLevel'], doc: 'Only of this escalation level.' })
  level?: number;

  @Text({
    min: 1, max: EMAIL_ADDRESS_MAX, optional: true, example: 'me',
    doc: 'Only open requests that stand in the queue of this user, by id or e-mail address, or in the caller\'s: `me`.',
  })
  assignedTo?: string;

  @Text({ min: 1, max: 100, optional: true, doc: 'Only what was last handed to this user.' })
  escalatedTo?: string;

  @Timestamp({ optional: true, doc: 'Only those whose time runs out before this moment.' })
  dueBefore?: Date;

  @OneOf(['snake', 'camel'], { optional: true, doc: 'Spelling of the answer\'s members.' })
  form?: 'snake' | 'camel';
}

export class DecisionDto {
  @Text({ max: 4_000, optional: true, nullable: true, aliases: ['comment', 'reason'], doc: 'Kept with the decision.' })
  note?: string;

  @Text({
    max: 64, optional: true, pattern: DIGEST, patternMeans: 'the 64 hexadecimal digits of `actionDigest`',
    doc: 'The digest of the action that you were shown: another one is refused.',
  })
  expectedDigest?: string;
}

export class ApprovalDto extends DecisionDto {
  @FreeObject({
    optional: true,
    doc: 'What shall run instead. It passes the gate again and has a new digest; where an admin, several people or another person ' +
      'have to approve, it decides nothing yet.',
  })
  editedInput?: JsonObject;

  @Flag({
    optional: true,
    doc: 'An owner whom separation of duties or a quorum bars (a quorum: root too) decides nevertheless, ' +
      'with a note of 10 characters or more. Admins are told.',
  })
  breakGlass?: boolean;
}

export class EscalationDto {
  @Text({ min: 1, max: 4_000, doc: 'Why it goes to the next level: kept with the request and in the log.' })
  reason!: string;

  @Text({ min: 1, max: 100, optional: true, nullable: true, doc: 'A user who may decide there; else it goes to that level\'s queue.' })
  escalateTo?: string;

  @Text({
    max: 64, optional: true, pattern: DIGEST, patternMeans: 'the 64 hexadecimal digits of `actionDigest`',
    doc: 'The digest of the action that you were shown: another one is refused.',
  })
  expectedDigest?: string;
}

/** As the documentation shows it; the gate reads it as it reads executions. */
export class CreateRequestDto {
  @Text({ max: 100, optional: true, doc: 'Root only: the agent that asks. An agent asks for itself.' })
  agentId?: string;

  @Text({ min: 1, max: 200, doc: 'Name of the capability.', example: 'email.send' })
  capability!: string;

  @Text({ max: 500, optional: true, nullable: true, doc: 'Name of the action, as the adapter calls it.' })
  action?: string;

  @FreeObject({ optional: true, aliases: ['input'], doc: 'What the agent wants to do, shown to the reviewer as it is.' })
  payload?: JsonObject;

  @FreeObject({ optional: true, doc: '`task_id`, `session_id`, `on_behalf_of`, and what else you need.' })
  context?: JsonObject;
}
