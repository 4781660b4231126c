import { STOP_SCOPES, type StopScope } from '../../domain/access/stops.js';
import { OneOf, Text } from '../../platform/http/fields/fields.js';
import { PageQuery } from '../../platform/http/fields/pagination.js';

export class MakeStopDto {
  @OneOf(STOP_SCOPES, { doc: 'What is stopped. `all` is root\'s.' })
  scope!: StopScope;

  @Text({
    min: 1, max: 100, optional: true,
    doc: 'The agent (`agt_…`, required with `agent`), or the organization (`org_…`; without it your own). Not with `all`.',
  })
  id?: string;

  @Text({ min: 1, max: 1_000, doc: 'Why; stands in the audit log.', example: 'purchasing pays twice' })
  reason!: string;
}

export class StopListQuery extends PageQuery {
  @OneOf(['active', 'lifted'], { optional: true, doc: 'Only those that are in force, or that are not any more.' })
  status?: 'active' | 'lifted';

  @Text({ max: 100, optional: true, doc: 'Only stops of this agent itself.' })
  agentId?: string;

  @Text({ max: 100, optional: true, doc: 'Only one organization\'s.' })
  organizationId?: string;
}
