import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { aPerson, type BuiltPerson } from '../../support/builders/people.js';
import { asRoot } from '../../support/http/actors.js';
import { eventually } from '../../support/running/eventually.js';
import { startServer, type TestServer } from '../../support/servers/server.js';

let server: TestServer;
let erased: BuiltPerson;
let other: BuiltPerson;

beforeAll(async () => {
  server = await startServer();
  [erased, other] = [await aPerson(server, 'member'), await aPerson(server, 'admin')];
  for (const { id, organizationId } of [erased, other]) {
    await server.sql(
      `insert into notifications (organization_id, id, user_id, event_id, event, priority, hitl_request_id, created_at)
       select $1, 'ntf_' || $2 || n, $2, n, 'hitl.request.created', 'normal', 'hitl_1', clock_timestamp() from generate_series(1, 700) n`,
      [organizationId, id],
    );
    await server.sql(
      `insert into mail_tokens (organization_id, token_hash, hitl_request_id, user_id, digest, created_at, expires_at)
       values ($1, encode(sha256(convert_to($2::text, 'UTF8')), 'hex'), 'hitl_1', $2::text, 'd', clock_timestamp(),
         clock_timestamp() + interval '1 hour')`,
      [organizationId, id],
    );
    await server.sql(
      `insert into chat_accounts (organization_id, id, user_id, chat, workspace, chat_user, vouched_by, created_at)
       values ($1, 'cha_' || $2, $2, 'slack', 'T1', 'U' || $2, repeat('0', 64), clock_timestamp())`,
      [organizationId, id],
    );
  }
  const recipients = [{ userId: erased.id }, { role: 'owner' }, { userId: other.id }];
  (await other.client.put('/api/v1/notifications/config/in_app', { enabled: true, recipients })).expect(200);
});
afterAll(() => server.stop());

test('somebody who is erased is notified of nothing any more, and is nobody in a chat', async () => {
  (await asRoot(server).delete(`/api/v1/users/${erased.id}/data`)).expect(200);
  await eventually(async () => {
    const left = await Promise.all(['notifications', 'mail_tokens', 'chat_accounts'].map((table) =>
      server.sql<{ user_id: string }>(`select distinct user_id from ${table}`)));
    expect(left.map((rows) => rows.map(({ user_id: user }) => user))).toEqual([[other.id], [other.id], [other.id]]);
    const shown = (await other.client.get('/api/v1/notifications/config/in_app')).expect(200);
    expect(shown.at('config.recipients')).toEqual([{ role: 'owner' }, { userId: other.id }]);
  }, { within: 15_000 });
  const again = (await asRoot(server).delete(`/api/v1/users/${erased.id}/data`)).expect(200);
  expect(again.number('notifications')).toBe(0);
});
