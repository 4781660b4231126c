import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { gunzipSync } from 'node:zlib';
import { anonymous, asRoot } from '../../support/http/actors.js';
import { anAgent, type BuiltAgent } from '../../support/builders/agents.js';
import { allSigned, download, verifierKeyOf, verifyBytes, type Downloaded } from '../../support/log/exports.js';
import { anOrganization, aPerson, firstOrganization, type BuiltPerson } from '../../support/builders/people.js';
import { startServer, type TestServer } from '../../support/servers/server.js';
import { ROOT_KEY } from '../../support/servers/test-run.js';

type Query = Readonly<Record<string, string | number>>;

const EXPORT = '/api/v1/audit/export';

let server: TestServer;
let home: string;
let elsewhere: string;
let admin: BuiltPerson;
let stranger: BuiltPerson;
let agent: BuiltAgent;
let other: BuiltAgent;
let vkey: string;

beforeAll(async () => {
  server = await startServer({ env: { AUDIT_CHECKPOINT_SECONDS: '1' } });
  [home, elsewhere] = [await firstOrganization(server), await anOrganization(server)];
  admin = await aPerson(server, 'admin');
  stranger = await aPerson(server, 'admin', { organizationId: elsewhere });
  agent = await anAgent(server).named('one').granted('web.search').create();
  other = await anAgent(server).named('two').inOrganization(elsewhere).granted('web.search').create();
  for (let n = 0; n < 5; n++) {
    await agent.client.post('/api/v1/execute', { capability: 'web.search', input: { q: `secret ${n}` } });
    await other.client.post('/api/v1/execute', { capability: 'web.search', input: { q: `elsewhere ${n}` } });
  }
  await allSigned(server);
  vkey = await verifierKeyOf(server);
});

afterAll(() => server?.stop());

const entriesOf = (file: Downloaded) => file.lines().filter((one) => one.kind === 'entry');
const organizationsOf = (file: Downloaded) => [...new Set(entriesOf(file).map((one) => one['organizationId']))].sort();
const countOf = async (organizationId: string) => {
  const [row] = await server.sql<{ n: number }>(
    'select count(*)::integer as n from audit_entries where organization_id = $1', [organizationId]);
  return row!.n;
};

describe('the log of an organization', () => {
  test('is a file that the stand-alone verifier finds valid, with every entry', async () => {
    await allSigned(server);
    const count = await countOf(home);
    const file = await download(server, admin.key, EXPORT);
    expect(file.status).toBe(200);
    expect(file.headers.get('content-type')).toBe('application/x-ndjson; charset=utf-8');
    expect(file.headers.get('content-disposition')).toMatch(/^attachment; filename="countersign-audit-org_\w+\.jsonl"$/);
    const result = await verifyBytes(file.bytes, [vkey]);
    expect(result).toMatchObject({ exitCode: 0, verdict: 'valid', covers: 'organizations', breaks: [], counts: { entries: count } });
    expect(organizationsOf(file)).toEqual([home]);
    expect(file.bytes.toString('utf8')).toContain('secret 3');
    expect(file.bytes.toString('utf8')).not.toContain('elsewhere 3');
  });

  test('is recorded before it is sent, in the organization that it is of', async () => {
    const before = await countOf(home);
    await download(server, admin.key, EXPORT, { format: 'csv', from: '2020-01-01' });
    const [entry] = await server.sql<{ payload: string }>(
      `select payload from audit_entries where organization_id = $1 and event = 'admin.audit_exported' order by id desc limit 1`, [home]);
    expect(JSON.parse(entry!.payload)).toMatchObject({
      actorId: admin.id, metadata: { format: 'csv', from: '2020-01-01T00:00:00.000Z' },
    });
    expect(await countOf(home)).toBe(before + 1);
  });

  test.each(['json', 'jsonl.gz', 'json.gz'])('can be had as %s', async (format) => {
    const file = await download(server, admin.key, EXPORT, { format });
    expect(file.headers.get('content-encoding')).toBe(format.endsWith('.gz') ? null : 'gzip');
    const result = await verifyBytes(file.bytes, [vkey], `export.${format}`);
    expect(result.breaks).toEqual([]);
    const text = (format.endsWith('.gz') ? gunzipSync(file.bytes) : file.bytes).toString('utf8');
    if (format.startsWith('json.') || format === 'json') expect(JSON.parse(text)).toHaveProperty('lines');
  });

  test('can be had for people, as CSV', async () => {
    const text = (await download(server, admin.key, EXPORT, { format: 'csv' })).bytes.toString('utf8');
    expect(text.split('\r\n')[0]).toMatch(/^index,organizationId,chain,seq,id/);
    expect(text).toContain('secret 2');
    expect(text.split('\r\n').at(-2)).toMatch(/^#manifest [\w-]+$/);
  });

  test('one changed byte is found', async () => {
    const { bytes } = await download(server, admin.key, EXPORT);
    const at = bytes.indexOf('secret 1');
    const changed = Buffer.from(bytes);
    changed[at] = changed[at]! ^ 1;
    expect(await verifyBytes(changed, [vkey])).toMatchObject({ exitCode: 1, verdict: 'tampered' });
    expect(await verifyBytes(bytes.subarray(0, bytes.length - 400), [vkey])).toMatchObject({ exitCode: 1 });
  });

  test('parts of it are sound by themselves: an agent, a window, both, from the past on', async () => {
    await allSigned(server);
    const [older] = await server.sql<{ size: string }>(
      'select min(size) as size from audit_checkpoints where organization_id = $1', [home]);
    const times = (await server.sql<{ timestamp: string }>(
      'select "timestamp" from audit_entries where organization_id = $1 order by id', [home])).map((one) => one.timestamp);
    const middle = { from: times[3]!, to: times[8]! };
    const parts: Query[] = [{ agent_id: agent.id }, middle, { from: times[5]! }, { to: times[5]! }, { ...middle, agent_id: agent.id },
      { from: '2090-01-01' }, { since: Number(older!.size) }];
    for (const query of parts) {
      const file = await download(server, admin.key, EXPORT, query);
      const result = await verifyBytes(file.bytes, [vkey]);
      expect([query, result.breaks]).toEqual([query, []]);
      if ('since' in query) expect(file.lines().map((one) => one.kind)).toContain('consistency');
    }
    const window = entriesOf(await download(server, admin.key, EXPORT, middle)).map((one) => one['timestamp']);
    expect(window).toEqual(expect.arrayContaining(times.slice(3, 9)));
    expect(window.length).toBeLessThan(times.length);
    const chains = entriesOf(await download(server, admin.key, EXPORT, { agent_id: agent.id })).map((one) => one['chain']);
    expect(new Set(chains)).toEqual(new Set([agent.id]));
  });
});

describe('who may export what', () => {
  test('an administrator sees nothing of another organization', async () => {
    expect(organizationsOf(await download(server, stranger.key, EXPORT))).toEqual([elsewhere]);
    const foreign: Query[] = [{ organization_id: home }, { agent_id: agent.id }, { agent_id: 'agt_nothing' }];
    for (const query of foreign) {
      const refused = await download(server, stranger.key, EXPORT, query);
      expect(refused.status).toBe(404);
      expect(JSON.parse(refused.bytes.toString())).toMatchObject({ code: 'NOT_FOUND' });
    }
  });

  test('root exports everything, or one organization', async () => {
    await allSigned(server);
    const all = await download(server, ROOT_KEY, EXPORT);
    expect(organizationsOf(all)).toEqual([elsewhere, home, 'org_platform'].sort());
    expect(await verifyBytes(all.bytes, [vkey])).toMatchObject({ exitCode: 0, breaks: [], covers: 'log' });
    for (const organization of [elsewhere, 'org_platform']) {
      const one = await download(server, ROOT_KEY, EXPORT, { organization_id: organization });
      expect(organizationsOf(one)).toEqual([organization]);
      expect((await verifyBytes(one.bytes, [vkey])).breaks).toEqual([]);
    }
    const events = await server.sql<{ organization_id: string }>(
      `select distinct organization_id from audit_entries where event = 'admin.audit_exported' and actor_id = 'root'`);
    expect(events.map((one) => one.organization_id).sort()).toEqual([elsewhere, home, 'org_platform'].sort());
  });

  test('a name that it does not know is refused, with those that it knows: mistyped, it would export everything', async () => {
    const before = await server.sql('select 1 from audit_entries where event like \'%export%\'');
    for (const [path, known] of [[EXPORT, 'did you mean agentId?'], [`/api/v1/audit/${admin.id}/export`, 'known are format']] as const) {
      const reply = (await admin.client.get(path, { query: { agent: 'agt_1', format: 'jsonl' } })).expect(400, 'VALIDATION_FAILED');
      expect(reply.headers.get('content-type')).toContain('application/problem+json');
      expect(reply.at('errors')).toEqual([
        { pointer: '?agent', message: expect.stringContaining(`is not known here; ${known}`) },
      ]);
    }
    expect(await server.sql('select 1 from audit_entries where event like \'%export%\'')).toEqual(before);
  });

  test('nobody else, and nothing is recorded then', async () => {
    const member = await aPerson(server, 'member');
    const before = await countOf(home);
    await member.client.get(EXPORT).then((reply) => reply.expect(403));
    await agent.client.get(EXPORT).then((reply) => reply.expect(403));
    await anonymous(server).get(EXPORT).then((reply) => reply.expect(401));
    const reversed = { from: '2026-02-02', to: '2026-02-01' };
    const wrong: Query[] = [{ from: 'yesterday' }, { format: 'xml' }, { since: '-1' }, { since: '1e400' }, reversed];
    for (const query of wrong) {
      await admin.client.get(EXPORT, { query }).then((reply) => reply.expect(400));
    }
    for (const path of [EXPORT, '/api/v1/audit']) {
      const refused = (await admin.client.get(path, { query: reversed })).expect(400, 'VALIDATION_FAILED');
      expect(refused.list('errors')).toMatchObject([{ pointer: '?from' }, { pointer: '?to' }]);
      // A day is a whole one: its end is not before its beginning.
      (await admin.client.get(path, { query: { from: '2026-02-02', to: '2026-02-02' } })).expect(200);
    }
    expect(await countOf(home)).toBe(before + 1);
  });
});

describe('the verifier', () => {
  test('is a page that may do nothing but what it needs', async () => {
    const page = await anonymous(server).get<string>('/api/v1/audit/verifier');
    expect(page.expect(200).headers.get('content-security-policy')).toMatch(/^default-src 'none'; script-src 'sha256-/);
    expect(page.body).toContain('<html');
    await asRoot(server).get('/api/v1/audit/nothing').then((reply) => reply.expect(404));
  });
});
