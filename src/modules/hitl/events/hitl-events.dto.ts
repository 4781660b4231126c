import { Text } from '../../../platform/http/fields/fields.js';

export class EventsQuery {
  @Text({ min: 1, max: 41, optional: true, doc: 'Id of the last event that was seen, for clients that cannot set `Last-Event-ID`.' })
  lastEventId?: string;

  @Text({ max: 100, optional: true, doc: 'Narrows what the caller may see to one organization.' })
  organizationId?: string;
}
