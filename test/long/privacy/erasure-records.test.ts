import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { asRoot } from '../../support/http/actors.js';
import { anAgent } from '../../support/builders/agents.js';
import { erased, erasuresOf } from '../../support/erasure/erasures.js';
import { eventually } from '../../support/running/eventually.js';
import { aPerson, anOrganization, type BuiltPerson } from '../../support/builders/people.js';
import { aged, archiveFolder, swept } from '../../support/retention/retention.js';
import { recordPeople } from '../../support/erasure/recorded-people.js';
import { startServer, type TestServer } from '../../support/servers/server.js';
import { tryingOut, type TryingOut } from '../../support/tampering/attempt.js';
import { verifiedLog } from '../../support/log/verified-log.js';

// Who asked for an erasure, who confirmed it as the second person, and why, is what people are shown of it: the log tells it, too.

let server: TestServer;
let archive: string;
let owner: TryingOut;
let organizationId: string;
let first: BuiltPerson;
let second: BuiltPerson;

const ask = async (values: readonly string[], reason: string) =>
  (await first.client.post('/api/v1/audit/erasures', { values, reason })).text('erasure.id');

beforeAll(async () => {
  archive = await archiveFolder();
  server = await startServer({ env: { AUDIT_CHECKPOINT_SECONDS: '1', AUDIT_ARCHIVE: archive } });
  organizationId = await anOrganization(server);
  first = await aPerson(server, 'admin', { organizationId });
  second = await aPerson(server, 'admin', { organizationId });
  await recordPeople(server);
  const agent = await anAgent(server).inOrganization(organizationId)
    .granted('email.send', { hitlMode: 'propose', hitlTimeoutSeconds: 3_600, reminders: [{ secondsBefore: 600 }] }).create();
  const request = async (to: string) =>
    (await agent.client.post('/api/v1/execute', { capability: 'email.send', input: { to } })).expect(202).text('hitlRequestId');
  // Of a decision: a second person has to confirm that it goes.
  for (const to of ['Grace Hopper', 'Ada Lovelace']) {
    (await second.client.post(`/api/v1/hitl/${await request(to)}/reject`, { note: `not to ${to}` })).expect(200);
  }
  const confirmed = await ask(['Grace Hopper'], 'Grace asked for it');
  (await second.client.post(`/api/v1/audit/erasures/${confirmed}/confirm`)).expect(200);
  await ask(['Ada Lovelace'], 'about Ada Lovelace');
  await ask(['Mary Somerville-Greig'], 'nobody of that name');
  await erased(server);
  owner = await tryingOut(server.database);
});

afterAll(async () => {
  await owner.end();
  await server.stop();
});

const looked = async (...changes: readonly string[]) =>
  (await owner.breaksAfter(...changes)).map(({ kind, detail }) => `${kind}: ${detail}`);

test('what is so agrees', async () => {
  const states = (await erasuresOf(asRoot(server))).map(({ state, confirmedBy }) => [state, confirmedBy]);
  expect(states).toEqual([['done', undefined], ['unconfirmed', undefined], ['done', second.id]]);
  expect(await looked()).toEqual([]);
});

const CONFIRMED = 'confirmed_by is not null';

test.each([
  ['another confirmed it', `set confirmed_by = 'usr_x' where ${CONFIRMED}`,
    /^incomplete: erasure ers_\w+ has confirmedBy usr_x, its entries say usr_/],
  ['nobody confirmed it', `set confirmed_by = null where ${CONFIRMED}`, /has confirmedBy nothing/],
  ['somebody confirmed it', `set confirmed_by = 'usr_x' where state = 'unconfirmed'`, /has confirmedBy usr_x, its entries say nothing/],
  ['another asked for it', `set asked_by = 'usr_x' where ${CONFIRMED}`, /has askedBy usr_x, its entries say usr_/],
  ['it is about somebody', `set user_id = 'usr_x' where ${CONFIRMED}`, /has userId usr_x, its entries say nothing/],
  ['it is of a person', `set kind = 'user' where ${CONFIRMED}`, /has kind user, its entries say values$/],
  ['another reason', `set reason = 'I felt like it' where ${CONFIRMED}`, /has another reason than its entries say$/],
  ['no reason', `set reason = null where ${CONFIRMED}`, /has another reason/],
  ['a reason of one that was declined', `set state = 'declined', reason = 'mine' where state = 'unconfirmed'`, /has another reason/],
])('%s: it is found, and named', async (_, change, wanted) => {
  const found = await looked(`update erasures ${change}`);
  expect(found).toEqual([expect.stringMatching(wanted)]);
});

test('one that is gone, and one that nobody asked for', async () => {
  expect(await looked(`delete from erasures where ${CONFIRMED}`)).toEqual([expect.stringMatching(/: erasure ers_\w+ is gone: entry \d+/)]);
  const copy = `insert into erasures select (json_populate_record(e, '{"id":"ers_x"}')).* from erasures e where ${CONFIRMED}`;
  expect(await looked(copy)).toEqual([expect.stringMatching(/: erasure ers_x has status asked, and no entry records it$/)]);
});

test("other reminders of a grant are found; they are its entry's", async () => {
  for (const other of ['[]', '[{"secondsBefore":900}]', '"x"', 'null']) {
    expect(await looked(`update capability_grants set reminders = '${other}'`))
      .toEqual([expect.stringMatching(/: grant grt_\w+ has reminders .*, its entries say \[\{"secondsBefore":600\}\]$/)]);
  }
});

test('what was declined in the end, and what another erasure took of a reason, is no break', async () => {
  await server.sql(`update erasures set asked_at = asked_at - interval '8 days' where state = 'unconfirmed'`);
  await eventually(async () => expect((await erasuresOf(asRoot(server))).map(({ state }) => state)).toEqual(['done', 'declined', 'done']));
  await ask(['Grace asked for it'], 'and the words about it, too');
  await erased(server);
  const reasons = await server.sql<{ reason: string }>(`select reason from erasures where ${CONFIRMED}`);
  expect(reasons).toEqual([{ reason: '[erased]' }]);
  expect(await looked()).toEqual([]);
  expect((await looked(`update erasures set reason = 'something else' where ${CONFIRMED}`)).length).toBe(0);
});

test('one whose entries were swept is not asked for', async () => {
  await aged(server.database);
  await swept(server.database, archive);
  await ask(['Caroline Herschel'], 'after the sweep');
  await erased(server);
  await eventually(async () => expect((await verifiedLog(server.database.url)).breaks).toEqual([]));
  expect(await looked(`update erasures set confirmed_by = 'usr_x' where reason = 'after the sweep'`))
    .toEqual([expect.stringMatching(/confirmedBy usr_x/)]);
});
