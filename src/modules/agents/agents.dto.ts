import { RISK_LEVELS, type RiskLevel } from '../../domain/gate/vocabulary.js';
import type { JsonObject } from '../../domain/json.js';
import { FreeObject, NestedList, OneOf, Text, TextList } from '../../platform/http/fields/fields.js';
import { PageQuery } from '../../platform/http/fields/pagination.js';
import { NewGrantDto } from './grants/grants.dto.js';

const name = { max: 200, min: 1, singleLine: true, doc: 'Shown to reviewers. Need not be unique.', example: 'purchasing' } as const;
const description = { max: 2_000, optional: true, doc: 'What the agent is for.' } as const;
const tags = {
  maxItems: 50, maxLength: 100, optional: true, doc: 'Labels; conditions can read them as `agent.tags`.', example: ['eu', 'purchasing'],
} as const;
const metadata = { optional: true, doc: 'An object of your own, kept as it is.' } as const;
const owner = {
  min: 1, max: 100, optional: true, example: 'usr_…', doc: 'Who answers for it: a person of its organization.',
} as const;
const team = {
  min: 1, max: 100, optional: true, example: 'team_…', doc: 'The team it belongs to: its grants are the agent\'s too.',
} as const;

export class RegisterAgentDto {
  @Text(name)
  name!: string;

  @Text({ ...description, nullable: true })
  description?: string;

  @OneOf(RISK_LEVELS, { optional: true, doc: 'Default `limited`. From `high` on, everything the agent does is flagged.' })
  riskLevel?: RiskLevel;

  @TextList(tags)
  tags?: string[];

  @FreeObject(metadata)
  metadata?: JsonObject;

  @Text({ max: 100, optional: true, doc: 'Root only: the organization it belongs to. Default: the first one.' })
  organizationId?: string;

  @NestedList(() => NewGrantDto, { maxItems: 100, optional: true, doc: 'Granted at once, so that the first token holds them.' })
  grants?: NewGrantDto[];

  @Text({ ...owner, nullable: true })
  ownerId?: string;

  @Text({ ...team, nullable: true })
  teamId?: string;
}

export class UpdateAgentDto {
  @Text({ ...name, optional: true })
  name?: string;

  @Text({ ...description, clearable: true })
  description?: string | null;

  @TextList(tags)
  tags?: string[];

  @FreeObject(metadata)
  metadata?: JsonObject;

  @Text({ ...owner, clearable: true })
  ownerId?: string | null;

  @Text({ ...team, clearable: true })
  teamId?: string | null;
}

export class RiskLevelDto {
  @OneOf(RISK_LEVELS, { doc: 'Takes effect on the very next call.' })
  riskLevel!: RiskLevel;
}

export class ReasonDto {
  @Text({ max: 1_000, optional: true, doc: 'Why; stands in the audit log.' })
  reason?: string;
}

export class RefreshTokenDto {
  @TextList({
    maxItems: 1_000, maxLength: 200, optional: true,
    doc: 'After 409 `CAPABILITIES_CHANGED`: its `currentCapabilities`, to acknowledge them.',
  })
  capabilities?: string[];
}

export class AgentListQuery extends PageQuery {
  @OneOf(['active', 'deactivated'], { optional: true, doc: 'Only agents of this status.' })
  status?: string;

  @OneOf(RISK_LEVELS, { optional: true, doc: 'Only agents of this risk level.' })
  riskLevel?: string;

  @Text({ max: 100, optional: true, doc: 'Only agents of this owner.' })
  ownerId?: string;

  @Text({ max: 100, optional: true, doc: 'Only agents of this team.' })
  teamId?: string;

  @Text({ max: 100, optional: true, doc: 'Root only: one organization.' })
  organizationId?: string;
}
