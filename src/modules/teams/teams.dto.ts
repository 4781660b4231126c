import { OneOf, Text } from '../../platform/http/fields/fields.js';
import { PageQuery } from '../../platform/http/fields/pagination.js';
import { TEAM_ROLES, type TeamRole } from './member.store.js';

const name = { max: 200, min: 1, singleLine: true, doc: 'Need not be unique.', example: 'Purchasing' } as const;
const description = { max: 2_000, optional: true, doc: 'What the team is for.' } as const;

export class NewTeamDto {
  @Text(name)
  name!: string;

  @Text({ ...description, nullable: true })
  description?: string;

  @Text({ max: 100, optional: true, doc: 'Root, and the owner of a tenant: whose it is. Default: the own organization.' })
  organizationId?: string;
}

export class UpdateTeamDto {
  @Text({ ...name, optional: true })
  name?: string;

  @Text({ ...description, clearable: true })
  description?: string | null;
}

export class NewMemberDto {
  @Text({ min: 1, max: 100, doc: 'A person with an open account in the organization of the team.', example: 'usr_…' })
  userId!: string;

  @OneOf(TEAM_ROLES, { optional: true, doc: 'Leads decide what was escalated once. Default `member`.' })
  role?: TeamRole;
}

export class TeamListQuery extends PageQuery {
  @Text({ max: 100, optional: true, doc: 'One of the organizations that the caller reaches.' })
  organizationId?: string;
}
