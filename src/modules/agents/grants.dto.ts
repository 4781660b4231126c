import { CONDITIONS_MAX, CONDITION_LENGTH_MAX } from '../../domain/gate/conditions.js';
import {
  GRANT_WORDS, HITL_MODES, type GrantWord, type HitlMode, type TimeoutAction,
} from '../../domain/gate/vocabulary.js';
import { Integer, NestedList, NotYet, OneOf, Text, Timestamp } from '../../platform/http/fields.js';
import { PageQuery } from '../../platform/http/pagination.js';

const LATER = 'nothing obeys it yet';
/** 30 days. */
const LONGEST_WINDOW = 2_592_000;

export class ConditionDto {
  @Text({
    min: 1, max: CONDITION_LENGTH_MAX, example: 'input.amount > 100',
    doc: 'A CEL expression over input, context, agent, capability and now.',
  })
  when!: string;

  @OneOf(HITL_MODES, { doc: 'The mode that then holds, if it is stricter than the grant\'s.' })
  hitlMode!: HitlMode;

  @Text({ max: 500, optional: true, doc: 'Shown to the reviewer.' })
  reason?: string;
}

/** What can be said of a grant besides its capability. */
export class GrantSettingsDto {
  @OneOf(GRANT_WORDS, { optional: true, doc: 'Default: the mode of the catalogue at that moment.', example: 'propose' })
  hitlMode?: GrantWord;

  @Integer({ min: 1, max: LONGEST_WINDOW, optional: true, clearable: true, doc: 'Seconds to decide. Default 1800.' })
  hitlTimeoutSeconds?: number | null;

  @OneOf(['reject'] satisfies TimeoutAction[], { optional: true, doc: 'What happens when nobody decides. For now the only one: `reject`.' })
  hitlTimeoutAction?: TimeoutAction;

  @NestedList(() => ConditionDto, { maxItems: CONDITIONS_MAX, optional: true, doc: 'They only tighten the mode, in any order.' })
  conditions?: ConditionDto[];

  @Timestamp({ optional: true, clearable: true, doc: 'From then on the grant is none. Default: never.' })
  expiresAt?: Date | null;

  @NotYet(LATER)
  limits?: unknown;

  @NotYet(LATER)
  quorum?: unknown;

  @NotYet(LATER)
  reminders?: unknown;
}

export class NewGrantDto extends GrantSettingsDto {
  @Text({ min: 1, max: 200, doc: 'Name of the capability, exact and case-sensitive.', example: 'email.send' })
  capability!: string;
}

export class GrantToDto extends NewGrantDto {
  @Text({ min: 1, max: 100, doc: 'The agent.' })
  agentId!: string;

  @NotYet('teams are not available yet')
  teamId?: string;
}

export class GrantListQuery extends PageQuery {
  @Text({ max: 200, optional: true, doc: 'Who holds this capability.' })
  capability?: string;

  @Text({ max: 100, optional: true, doc: 'What this agent holds.' })
  agentId?: string;
}
