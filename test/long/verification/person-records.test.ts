import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { newId } from '../../../src/domain/ids.js';
import { anAgent } from '../../support/builders/agents.js';
import { eventually } from '../../support/running/eventually.js';
import { allSigned, download, verifierKeyOf, verifyBytes, type Downloaded } from '../../support/log/exports.js';
import { anOrganization, aPerson, type BuiltPerson } from '../../support/builders/people.js';
import { startServer, type TestServer } from '../../support/servers/server.js';

// What modules hold of a person, in the copy that they may ask for.

let server: TestServer;
let vkey: string;
let organizationId: string;
let admin: BuiltPerson;
let viewer: BuiltPerson;
let other: BuiltPerson;

beforeAll(async () => {
  server = await startServer({ env: { AUDIT_CHECKPOINT_SECONDS: '1' } });
  organizationId = await anOrganization(server);
  admin = await aPerson(server, 'admin', { organizationId });
  viewer = await aPerson(server, 'viewer', { organizationId });
  other = await aPerson(server, 'viewer', { organizationId });
  const agent = await anAgent(server).inOrganization(organizationId).granted('web.search').create();
  (await agent.client.post('/api/v1/execute', { capability: 'web.search', input: {} })).expect(200);
  await allSigned(server);
  vkey = await verifierKeyOf(server);
});

afterAll(() => server?.stop());

const copyOf = ({ id, key }: BuiltPerson) => download(server, key, `/api/v1/audit/${id}/export`, { format: 'jsonl' });

const requestsRecorded = async ({ id }: BuiltPerson) => (await server.sql(
  `select 1 from audit_entries where event = 'gdpr.export_requested' and actor_id = $1`, [id])).length;

interface Records {
  readonly [holder: string]: Readonly<Record<string, readonly { readonly id: string }[]>>;
}

const recordsOf = (file: Downloaded) => file.lines().flatMap(({ kind, records }) => (kind === 'records' ? [records as Records] : []));

test('while they are read, nothing waits for it that stops an organization; the request for them is recorded before', async () => {
  const holder = new pg.Client({ connectionString: server.database.url });
  await holder.connect();
  await holder.query('begin');
  await holder.query('lock table passkeys in access exclusive mode');
  const copying = copyOf(viewer).catch((error: Error) => error);
  try {
    await eventually(async () => {
      // Asked over another connection: within one transaction the view shows what it showed first.
      expect(await server.sql(`select 1 from pg_stat_activity where datname = current_database()
        and wait_event_type = 'Lock' and query like '%passkeys%'`)).toHaveLength(1);
    });
    expect(await server.sql('select 1 from audit_heads where organization_id = $1 and chain = $2 for update skip locked',
      [organizationId, `sys_${organizationId}`])).toHaveLength(1);
    const stopped = (await admin.client.post('/api/v1/stops', { scope: 'organization', reason: 'emergency' })).expect(201);
    (await admin.client.delete(`/api/v1/stops/${stopped.text('stop.id')}`)).expect(204);
    expect(await requestsRecorded(viewer)).toBe(1);
  } finally {
    await holder.query('rollback');
    await holder.end();
    await copying;
  }
});

test('none is given where the request for it cannot be recorded', async () => {
  await server.sql(`create function refuse_entries() returns trigger language plpgsql as
    $$ begin raise exception 'no entry today' using errcode = '53100'; end $$`);
  await server.sql(`create trigger refuse_entries before insert on audit_entries for each row
    when (new.event = 'gdpr.export_requested') execute function refuse_entries()`);
  try {
    const refused = await copyOf(other);
    expect([refused.status, refused.bytes.toString('utf8')]).toEqual([503, expect.stringContaining('UNAVAILABLE')]);
    expect(refused.bytes.toString('utf8')).not.toContain(other.email);
  } finally {
    await server.sql('drop function refuse_entries cascade');
  }
  expect(await requestsRecorded(other)).toBe(0);
  expect((await copyOf(other)).status).toBe(200);
});

test('many of them are several lines, with everything of the person and nothing of anybody else', async () => {
  const rows = 41_000;
  const prefix = newId('exec').slice(0, -6);
  // As many as are looked at in three steps, and of each sixty one of the one person and one of the other.
  await server.sql(
    `insert into executions
     select (jsonb_populate_record(e, jsonb_build_object('id', $2 || lpad(n::text, 6, '0'), 'requested_by',
       case n % 60 when 0 then $3 when 1 then $4 else e.requested_by end))).*
     from executions e, generate_series(1, ${rows}) n where e.organization_id = $1`,
    [organizationId, prefix, viewer.id, other.id],
  );
  const idsOf = async ({ id }: BuiltPerson) =>
    (await server.sql<{ id: string }>('select id from executions where requested_by = $1 order by id', [id])).map((one) => one.id);
  const [own, foreign] = await Promise.all([idsOf(viewer), idsOf(other)]);
  expect([own.length, foreign.length]).toEqual([683, 684]);

  const file = await copyOf(viewer);
  const records = recordsOf(file);
  expect(records).toHaveLength(2);
  expect(records.flatMap(({ executions }) => executions!['requested']!.map(({ id }) => id))).toEqual(own);
  expect(records[0]).toMatchObject({ organizations: { account: { id: viewer.id }, keys: [{ id: viewer.keyId }] } });
  expect(records[1]).toMatchObject({ hitl: { decided: [], edited: [], votes: [] } });
  const text = file.bytes.toString('utf8');
  expect([...foreign, other.id, other.email].filter((one) => text.includes(one))).toEqual([]);
  expect(await verifyBytes(file.bytes, [vkey])).toMatchObject({ exitCode: 0, breaks: [], covers: 'person' });
});

test('of an owner tell what they did in each organization of their tenant, and of nobody else anything', async () => {
  const tenantId = newId('ten');
  const [first, second] = [await anOrganization(server, { tenantId }), await anOrganization(server, { tenantId })];
  const owner = await aPerson(server, 'owner', { organizationId: first });
  const colleague = await aPerson(server, 'admin', { organizationId: second });
  const acted: Record<string, string[]> = { executions: [], requests: [], votes: [], stops: [] };
  for (const at of [first, second]) {
    const agent = await anAgent(server).inOrganization(at)
      .granted('email.send', { hitlMode: 'propose', quorum: { approvals: 2 } }).create();
    const asked = async () =>
      (await agent.client.post('/api/v1/execute', { capability: 'email.send', input: { to: 'ann' } })).expect(202).text('hitlRequestId');
    const [voted, rejected] = [await asked(), await asked()];
    (await owner.client.post(`/api/v1/hitl/${voted}/approve`, { note: `a vote in ${at}` }, { query: { wait: 0 } })).expect(200);
    (await owner.client.post(`/api/v1/hitl/${rejected}/reject`, { note: `a decision in ${at}` })).expect(200);
    const stop = await owner.client.post('/api/v1/stops', { scope: 'organization', id: at, reason: `a stop in ${at}` });
    acted['votes']!.push(voted);
    acted['requests']!.push(rejected);
    acted['stops']!.push(stop.expect(201).text('stop.id'));
    await server.sql('update executions set requested_by = $1 where organization_id = $2', [owner.id, at]);
    const executions = await server.sql<{ id: string }>('select id from executions where organization_id = $1 order by id', [at]);
    acted['executions']!.push(...executions.map(({ id }) => id));
  }
  const foreign = await colleague.client.post('/api/v1/stops', { scope: 'organization', reason: 'of a colleague' });
  foreign.expect(201);
  await allSigned(server);

  const file = await copyOf(owner);
  const reported = (holder: string, list: string) =>
    recordsOf(file).flatMap((records) => records[holder]?.[list]?.map(({ id }) => id) ?? []);
  expect(reported('executions', 'requested').toSorted()).toEqual(acted['executions']!.toSorted());
  expect(reported('hitl', 'decided').toSorted()).toEqual(acted['requests']!.toSorted());
  expect(reported('hitl', 'votes').toSorted()).toEqual(acted['votes']!.toSorted());
  expect(reported('organizations', 'stops').toSorted()).toEqual(acted['stops']!.toSorted());
  expect(reported('organizations', 'keys')).toEqual([owner.keyId]);
  expect(file.bytes.toString('utf8')).not.toContain('of a colleague');
  expect(await verifyBytes(file.bytes, [vkey])).toMatchObject({ exitCode: 0, breaks: [], covers: 'person' });
});
