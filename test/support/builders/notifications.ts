import { newId } from '../../../src/domain/ids.js';
import type { TestServer } from '../servers/server.js';

let events = 0;

/** A notification in somebody's inbox, past the API. */
export async function aNotification(server: TestServer, organizationId: string, userId: string): Promise<string> {
  const id = newId('ntf');
  await server.sql(
    `insert into notifications (organization_id, id, user_id, event_id, event, priority, created_at)
     values ($1, $2, $3, $4, 'execution.notified', 'normal', clock_timestamp())`, [organizationId, id, userId, --events]);
  return id;
}

/** A delivery that was given up, past the API. */
export async function aDeadDelivery(server: TestServer, organizationId: string): Promise<string> {
  const id = newId('dlv');
  await server.sql(
    `insert into notification_deliveries (organization_id, id, event_id, event, channel, priority, execution_id, occurred_at, state,
       available_at, code, created_at, ended_at)
     select $1, $2, $3, 'execution.notified', 'webhook', 'normal', 'exec_gone', now, 'dead', now, 'HTTP_503', now, now
     from clock_timestamp() as now`, [organizationId, id, --events]);
  return id;
}
