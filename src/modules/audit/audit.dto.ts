import { EMAIL_ADDRESS_MAX } from '../../domain/access/person.js';
import { OneOf, Text, Timestamp } from '../../platform/http/fields/fields.js';
import { PageQuery } from '../../platform/http/fields/pagination.js';

const OUTCOMES = ['success', 'failure', 'blocked', 'executed'] as const;

export class AuditListQuery extends PageQuery {
  @Text({
    max: 100, optional: true, aliases: ['eventType'], example: 'execution.completed',
    doc: 'Event type; an unknown one finds nothing.',
  })
  event?: string;

  @Text({ max: 100, optional: true, doc: "One agent's entries." })
  agentId?: string;

  @Text({
    max: EMAIL_ADDRESS_MAX, optional: true, aliases: ['user'],
    doc: 'Entries that this user made or that are about them: by id, or by e-mail address.',
  })
  userId?: string;

  @Text({ max: 200, optional: true, doc: 'Capability.', example: 'email.send' })
  capability?: string;

  @OneOf(OUTCOMES, { optional: true, doc: 'Outcome; `success` also finds `executed`.' })
  outcome?: string;

  @Text({ max: 100, optional: true, doc: 'Narrows what the caller may see to one organization.' })
  organizationId?: string;

  @Timestamp({ optional: true, date: 'start', doc: 'Not before; a bare date is the whole UTC day.' })
  from?: Date;

  @Timestamp({ optional: true, date: 'end', doc: 'Not after; a bare date is the whole UTC day.' })
  to?: Date;
}

export class VerifyQuery {
  @Text({ max: 100, optional: true, doc: "Verify only this agent's chain." })
  agentId?: string;
}
