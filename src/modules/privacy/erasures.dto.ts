import { Flag, OneOf, Text, TextList } from '../../platform/http/fields/fields.js';
import { PageQuery } from '../../platform/http/fields/pagination.js';

/** Six characters, white space around them not counted, one letter or digit among them: shorter ones are in half of all texts. */
const SIX_CHARACTERS = /^(?=[\s\S]*[\p{L}\p{N}])\s*\S[\s\S]{4,}\S\s*$/u;

export class AskErasureDto {
  @TextList({
    minItems: 1, maxItems: 20, maxLength: 500, pattern: SIX_CHARACTERS,
    patternMeans: 'at least 6 characters, a letter or digit among them',
    example: ['Grace Hopper', 'grace@example.com'],
    doc: 'Names, addresses, whatever names the person. Found as whole words, whatever their case; in names of members too.',
  })
  values!: string[];

  @Text({
    min: 1, max: 1_000, doc: 'Why; stands in the audit log, and is itself searched for the values.', example: 'request of 21 November',
  })
  reason!: string;

  @Flag({ optional: true, doc: 'Only count what would be erased.' })
  dryRun?: boolean;

  @Text({
    max: 100, optional: true,
    doc: 'One of those that you reach; for root also `org_platform`, the platform\'s own log. Default: your own.',
  })
  organizationId?: string;
}

export class ErasureListQuery extends PageQuery {
  @OneOf(['unconfirmed', 'running', 'done', 'declined'], { optional: true, doc: 'Only those in this state.' })
  state?: string;

  @Text({ max: 100, optional: true, doc: 'Only erasures of this user.' })
  userId?: string;

  @Text({ max: 100, optional: true, doc: 'Only one organization\'s.' })
  organizationId?: string;
}
