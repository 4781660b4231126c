import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { asRoot } from '../../support/http/actors.js';
import { startServer, type TestServer } from '../../support/servers/server.js';

/** The part of the log that root asks about, as replicas name it to one another. */
const SCOPE = createHash('sha256').update(JSON.stringify(['all', null])).digest('hex');
const FORGED = { valid: false, verdict: 'tampered', chains: 1, entries: 424_242, breaks: [], breaksFound: 1, members: {}, notes: [] };

let server: TestServer;

beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

test.each<[string, unknown, 'now' | 'in the future']>([
  ['an outcome of somebody\'s who owns the database', FORGED, 'now'],
  ['an outcome that looks sealed', Buffer.from(JSON.stringify(FORGED)).toString('base64'), 'now'],
  ['a verification that goes on for ever', null, 'in the future'],
])('%s is not told: the log is read', async (_name, outcome, heard) => {
  const at = heard === 'now' ? new Date().toISOString() : '2099-01-01T00:00:00Z';
  // Each credential asks once a minute.
  await server.sql('delete from audit_verification_turns');
  await server.sql(
    `insert into audit_verifications (scope, begun_at, by, progress, outcome) values ($1, clock_timestamp(), 'nobody', $2, $3)
     on conflict (scope) do update set by = excluded.by, progress = excluded.progress, outcome = excluded.outcome, ended_at = null`,
    [SCOPE, JSON.stringify({ at, entries: 0 }), JSON.stringify(outcome)]);
  const told = (await asRoot(server).get('/api/v1/audit/verify')).expect(200);
  expect(told.at('valid')).toBe(true);
  expect(told.at('entries')).not.toBe(FORGED.entries);
});
