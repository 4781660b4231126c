import { CAPABILITY_NAME_MAX } from '../../domain/gate/catalogue.js';
import { Text, TextList } from '../../platform/http/fields/fields.js';

export class ResolveDto {
  @Text({
    min: 1, max: CAPABILITY_NAME_MAX, optional: true, example: 'web.search',
    doc: 'What the agent has to be able to do. Either this or `capabilities`.',
  })
  capability?: string;

  @TextList({ minItems: 1, maxItems: 10, maxLength: CAPABILITY_NAME_MAX, optional: true, doc: 'The same, where it is several: all of them.' })
  capabilities?: string[];

  @Text({ max: 2_000, optional: true, nullable: true, doc: 'For people who read the routing log.' })
  description?: string;

  @TextList({ maxItems: 20, maxLength: 100, optional: true, doc: 'The agent has at least one of these tags; more of them score higher.' })
  tags?: string[];

  @Text({ min: 1, max: 100, optional: true, doc: 'Only agents of this team.' })
  teamId?: string;

  @TextList({ maxItems: 100, maxLength: 100, optional: true, doc: 'Ids of agents that are not to be found.' })
  exclude?: string[];

  @Text({ max: 100, optional: true, doc: 'One of the organizations that the caller reaches. Default: the own one.' })
  organizationId?: string;
}

export class RoutingLogQuery {
  @Text({ max: 100, optional: true, doc: 'Only of this organization, for whoever sees several.' })
  organizationId?: string;
}
