import { expect } from '@jest/globals';
import { eventually } from '../running/eventually.js';
import type { TestServer } from '../servers/server.js';

/** Deliveries of an organization wait while `work` runs, three of them at least. */
export async function withHeldDeliveries<Result>(server: TestServer, of: string, work: () => Promise<Result>): Promise<Result> {
  const trigger = `hold_${of.slice(-12)}`;
  await server.sql(`create function ${trigger}() returns trigger language plpgsql as $$
    begin if new.organization_id = '${of}' then new.available_at := 'infinity'; end if; return new; end $$`);
  await server.sql(`create trigger ${trigger} before insert on notification_deliveries for each row execute function ${trigger}()`);
  const result = await work();
  await eventually(async () => {
    const [row] = await server.sql<{ n: number }>(
      'select count(*)::integer as n from notification_deliveries where organization_id = $1', [of]);
    expect(row!.n).toBeGreaterThanOrEqual(3);
  });
  await server.sql(`drop trigger ${trigger} on notification_deliveries`);
  await server.sql(`update notification_deliveries set available_at = clock_timestamp() where organization_id = $1`, [of]);
  return result;
}
