import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { organizationChain } from '../../../src/domain/audit/entry/chain.js';
import { prepareEntry } from '../../../src/domain/audit/entry/prepare-entry.js';
import { newId } from '../../../src/domain/ids.js';
import { asRoot, type Client } from '../../support/http/actors.js';
import { firstOrganization } from '../../support/builders/people.js';
import { appendEntriesPast } from '../../support/log/append-past.js';
import { startServer, type TestServer } from '../../support/servers/server.js';

/** As many make a log that is verified by several threads. */
const ENTRIES = 2_100;

let server: TestServer;
let root: Client;

beforeAll(async () => {
  server = await startServer();
  root = asRoot(server);
  const chain = organizationChain(await firstOrganization(server));
  const event = { type: 'auth.login', chain, metadata: { method: 'password' } } as const;
  await appendEntriesPast(server.database, ...Array.from({ length: ENTRIES }, () =>
    prepareEntry(event, { id: newId('audit'), actorId: 'system', timestamp: new Date() })));
});

afterAll(() => server.stop());

const verified = async () => {
  await server.sql('delete from audit_verification_rate_limits');
  return (await root.get('/api/v1/audit/verify')).expect(200);
};

test('a long log is verified, and what was changed in it is named', async () => {
  const sound = await verified();
  expect(sound.body).toMatchObject({ valid: true, breaks: [] });
  expect(sound.number('entries')).toBeGreaterThanOrEqual(ENTRIES);
  const [victim] = await server.sql<{ id: string }>(
    `select id from audit_entries where event = 'auth.login' order by seq offset 1000 limit 1`);
  await server.database.asSuperuser(`update audit_entries set actor_id = 'root' where id = '${victim!.id}'`);
  const found = (await verified()).expect(200);
  expect(found.at('valid')).toBe(false);
  expect(found.list('breaks')).toContainEqual(expect.objectContaining({ kind: 'column_mismatch', entryId: victim!.id }));
});
