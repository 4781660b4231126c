import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newId } from '../../../src/domain/ids.js';
import { asRoot } from '../../support/http/actors.js';
import { anAgent } from '../../support/builders/agents.js';
import { known } from '../../support/memory/decided-log.js';
import { anOrganization } from '../../support/builders/people.js';
import { aged, archiveFolder, swept } from '../../support/retention/retention.js';
import { startServer, type TestServer } from '../../support/servers/server.js';
import { tryingOut, type TryingOut } from '../../support/tampering/attempt.js';

// Rows that somebody has put there and that no entry tells of: also where what would tell of them could have been swept.

const DAY_MS = 86_400_000;

let server: TestServer;
let owner: TryingOut;
/** In whose organization everything was swept, and which has gone on since. */
let sweptAgent: string;

beforeAll(async () => {
  const archive = await archiveFolder();
  server = await startServer({ env: { AUDIT_CHECKPOINT_SECONDS: '1', AUDIT_ARCHIVE: archive } });
  const sweptId = await anOrganization(server);
  const old = await anAgent(server).inOrganization(sweptId).granted('web.search').create();
  sweptAgent = old.id;
  const searches = async () => (await old.client.post('/api/v1/execute', { capability: 'web.search', input: {} })).expect(200);
  await searches();
  await aged(server.database);
  await swept(server.database, archive);
  await searches();
  await asRoot(server).post('/api/v1/capabilities/grant', { agentId: old.id, capability: 'file.read', hitlMode: 'auto' });
  const organizationId = await anOrganization(server);
  const deciders = [await known(server, 'admin', organizationId), await known(server, 'admin', organizationId)];
  const agent = await anAgent(server).inOrganization(organizationId)
    .granted('data.write', { hitlMode: 'propose', quorum: { approvals: 2 } }).create();
  const request = (await agent.client.post('/api/v1/execute', { capability: 'data.write', input: {} })).expect(202).text('hitlRequestId');
  for (const { client } of deciders) (await client.post(`/api/v1/hitl/${request}/approve`, {}, { query: { wait: 5 } })).expect(200);
  owner = await tryingOut(server.database);
});

afterAll(async () => {
  await owner.end();
  await server.stop();
});

const looked = async (...changes: readonly string[]) =>
  (await owner.breaksAfter(...changes)).map(({ kind, detail }) => `${kind}: ${detail}`);

/** Another row like the first one. */
const copied = (table: string, members: object, where: string) => `insert into ${table}
  select (json_populate_record(t, '${JSON.stringify(members)}')).* from ${table} t
  where t.ctid = (select ctid from ${table} where ${where} limit 1)`;

test('nothing is wrong before', async () => {
  expect(await looked()).toEqual([]);
});

test.each([
  ['a request that was never made', { request_id: 'hitl_ghost', voter: 'usr_ceo', note: 'I approved it' }],
  ['a request of another organization', { organization_id: 'org_platform' }],
  ['a request that is not there, by an entry that could be swept', { request_id: 'hitl_ghost', entry_id: 'audit_0' }],
])('a vote on %s', async (_, members) => {
  expect(await looked(copied('hitl_votes', members, 'true')))
    .toContainEqual(expect.stringMatching(
      /^incomplete: vote hitl_\w+ 1 usr_\w+ shows a request that is not there, which no entry can record$/));
});

test('and votes whose request somebody took away', async () => {
  const found = await looked('delete from hitl_requests');
  expect(found).toContainEqual(expect.stringMatching(/^incomplete: request hitl_\w+ is gone/));
  expect(found.filter((one) => /vote .* shows a request that is not there/.test(one)).length).toBe(2);
});

const given = (at: number) =>
  copied('capability_grants', { id: newId('grt', at), capability: 'email.send' }, `agent_id = '${sweptAgent}'`);
const ran = (at: number) =>
  copied('executions', { id: newId('exec', at), audit_id: 'audit_0' }, `agent_id = '${sweptAgent}'`);

test('of a swept agent what was made since is named, and what may have been made before is not asked for', async () => {
  for (const [made, what] of [[given, 'grant grt'], [ran, 'execution exec']] as const) {
    expect(await looked(made(Date.now() + DAY_MS)))
      .toEqual([expect.stringMatching(new RegExp(`^incomplete: ${what}_\\w+ has status \\w+, and no entry records it$`))]);
    // The archive has the entries of those: no row of them is compared.
    expect(await looked(made(Date.now() - DAY_MS))).toEqual([]);
  }
});
