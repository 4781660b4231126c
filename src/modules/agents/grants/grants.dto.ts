import { CONDITIONS_MAX, CONDITION_LENGTH_MAX } from '../../../domain/gate/conditions.js';
import {
  LIMIT_MAX, LIMIT_MODES, LIMIT_PERIODS, LIMITS_MAX, type LimitMode, type LimitPeriod,
} from '../../../domain/gate/limits.js';
import {
  GRANT_WORDS, HITL_MODES, MODES_MEAN, TIMEOUT_ACTIONS, WORDS_MEAN, type GrantWord, type HitlMode, type TimeoutAction,
} from '../../../domain/gate/vocabulary.js';
import { APPROVALS_MAX, APPROVALS_MIN, GROUP_ROLES, GROUPS_MAX, type GroupRole } from '../../../domain/hitl/quorum.js';
import { REMINDERS_MAX } from '../../../domain/hitl/reminders.js';
import { Decimal, Flag, Integer, Nested, NestedList, OneOf, Text, Timestamp } from '../../../platform/http/fields/fields.js';
import { PageQuery } from '../../../platform/http/fields/pagination.js';
import { GRANT_WORD, HITL_MODE, TIMEOUT_ACTION } from '../../capabilities/document/mode-words.js';

/** 30 days. */
const LONGEST_WINDOW = 2_592_000;

export class ConditionDto {
  @Text({
    min: 1, max: CONDITION_LENGTH_MAX, example: 'input.amount > 100',
    doc: 'A CEL expression over input, context, agent, capability and now.',
  })
  when!: string;

  @OneOf(HITL_MODES, { named: HITL_MODE, meaning: MODES_MEAN, doc: 'The mode that then holds, if it is stricter than the grant\'s.' })
  hitlMode!: HitlMode;

  @Text({ max: 500, optional: true, doc: 'Shown to the reviewer.' })
  reason?: string;
}

export class LimitDto {
  @Decimal({ min: 0, max: LIMIT_MAX, example: 100, doc: 'How many calls, or with `sum` how much of it. A whole number for calls.' })
  max!: number;

  @OneOf(LIMIT_PERIODS, { doc: 'In which time: a window that slides, or `total` for ever.' })
  per!: LimitPeriod;

  @Text({
    min: 1, max: CONDITION_LENGTH_MAX, optional: true, example: 'input.amount',
    doc: 'What is summed instead of counting calls: a CEL expression that answers a number, over what conditions read.',
  })
  sum?: string;

  @OneOf(LIMIT_MODES, { doc: 'The mode of what goes past it, if it is stricter than the grant\'s.' })
  then!: LimitMode;
}

export class QuorumGroupDto {
  @Text({ min: 1, max: 100, optional: true, doc: 'A team of the organization. Either this or `role`.' })
  teamId?: string;

  @OneOf(GROUP_ROLES, { optional: true, doc: 'A role; whoever has a higher one counts too. Either this or `teamId`.' })
  role?: GroupRole;
}

export class QuorumDto {
  @Integer({ min: APPROVALS_MIN, max: APPROVALS_MAX, doc: 'How many distinct people have to approve. One rejection ends it.' })
  approvals!: number;

  @NestedList(() => QuorumGroupDto, {
    maxItems: GROUPS_MAX, optional: true,
    doc: 'Of each of them at least one must be among those who approve. Left out, they stay; an empty list removes them.',
  })
  groups?: QuorumGroupDto[];
}

export class ReminderDto {
  @Integer({ min: 1, max: LONGEST_WINDOW, example: 300, doc: 'Seconds before the end of each window; fewer than it has.' })
  secondsBefore!: number;

  @Flag({ optional: true, doc: 'It also moves the request up one level, with a new window.' })
  escalate?: boolean;
}

/** The terms of a grant. Of a grant that is there, what is left out stays, and null returns to the default. */
export class GrantSettingsDto {
  @OneOf(GRANT_WORDS, {
    named: GRANT_WORD, optional: true, clearable: true, meaning: WORDS_MEAN, doc: 'Default: the mode of the catalogue at that moment.',
    example: 'propose',
  })
  hitlMode?: GrantWord | null;

  @Integer({ min: 1, max: LONGEST_WINDOW, optional: true, clearable: true, doc: 'Seconds to decide. Default 1800.' })
  hitlTimeoutSeconds?: number | null;

  @OneOf(TIMEOUT_ACTIONS, {
    named: TIMEOUT_ACTION, optional: true, clearable: true,
    doc: 'What happens when nobody decides in time. Default `reject`. `approve` not where an admin or several people have to approve.',
  })
  hitlTimeoutAction?: TimeoutAction | null;

  @NestedList(() => ConditionDto, {
    maxItems: CONDITIONS_MAX, optional: true, clearable: true, doc: 'They only tighten the mode, in any order.',
  })
  conditions?: ConditionDto[] | null;

  @Timestamp({ optional: true, clearable: true, doc: 'From then on the grant is none. Default: never.' })
  expiresAt?: Date | null;

  @NestedList(() => LimitDto, {
    maxItems: LIMITS_MAX, optional: true, clearable: true,
    doc: 'How often, or how much, before another mode applies. Counted from when a limit is set; of a team, for all its agents together.',
  })
  limits?: LimitDto[] | null;

  @Nested(() => QuorumDto, {
    optional: true, clearable: true,
    doc: 'Several people have to approve. Default: one is enough. 422 where there are not the people to bring it together.',
  })
  quorum?: QuorumDto | null;

  @NestedList(() => ReminderDto, {
    maxItems: REMINDERS_MAX, optional: true, clearable: true, doc: 'People are told that a window is about to end. Default: none.',
  })
  reminders?: ReminderDto[] | null;
}

export class NewGrantDto extends GrantSettingsDto {
  @Text({ min: 1, max: 200, doc: 'Name of the capability, exact and case-sensitive.', example: 'email.send' })
  capability!: string;
}

export class GrantToDto extends NewGrantDto {
  @Text({ min: 1, max: 100, optional: true, doc: 'The agent. Either this or `teamId`.' })
  agentId?: string;

  @Text({ min: 1, max: 100, optional: true, doc: 'The team: each of its agents holds the capability, unless it has a grant of its own.' })
  teamId?: string;
}

export class GrantListQuery extends PageQuery {
  @Text({ max: 200, optional: true, doc: 'Who holds this capability.' })
  capability?: string;

  @Text({ max: 100, optional: true, doc: 'What this agent holds: for each capability the grant that counts, its own or its team\'s.' })
  agentId?: string;

  @Text({ max: 100, optional: true, doc: 'What this team holds.' })
  teamId?: string;
}
