import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { anonymous, as, asRoot, type Client } from '../../support/http/actors.js';
import { anAgent } from '../../support/builders/agents.js';
import { allSigned, download, verifierKeyOf, verifyBytes, type Downloaded } from '../../support/log/exports.js';
import { anOrganization, aPerson } from '../../support/builders/people.js';
import { startServer, type TestServer } from '../../support/servers/server.js';
import { ROOT_KEY } from '../../support/servers/test-run.js';

let server: TestServer;
let root: Client;
let vkey: string;
const people: Record<string, { id: string; key: string; client: Client }> = {};

const pathOf = (id: string) => `/api/v1/audit/${id}/export`;

async function made(name: string, role: string): Promise<void> {
  const email = `${name}@people.example`;
  const id = (await root.post('/api/v1/users', { email, name: `${name} Lovelace`, role })).expect(201).text('user.id');
  const key = (await root.post(`/api/v1/users/${id}/keys`, { name: `key of ${name}` })).expect(201).text('secret');
  people[name] = { id, key, client: as(server, key) };
}

// Ada decides, and makes Bob's account; Cleo is in what an agent sends.
beforeAll(async () => {
  server = await startServer({ env: { AUDIT_CHECKPOINT_SECONDS: '1', TRUSTED_PROXIES: '127.0.0.1' } });
  root = asRoot(server).with({ 'x-forwarded-for': '198.51.100.9' });
  for (const [name, role] of [['ada', 'admin'], ['bob', 'member'], ['dora', 'viewer']] as const) await made(name, role);
  const ada = people['ada']!.client.with({ 'x-forwarded-for': '203.0.113.7' });
  const bob = people['bob']!.client.with({ 'x-forwarded-for': '203.0.113.88' });
  const agent = await anAgent(server).granted('email.send', { hitlMode: 'propose' }).create();
  const ask = async () => (await agent.client.post('/api/v1/execute', {
    capability: 'email.send', input: { to: 'cleo@example.org', 'Cleo Patra': 'hello' }, context: { on_behalf_of: people['bob']!.id },
  })).expect(202).text('hitlRequestId');
  (await ada.post(`/api/v1/hitl/${await ask()}/reject`, { reason: 'Ada says no' })).expect(200);
  (await ada.post(`/api/v1/hitl/${await ask()}/approve`, { comment: 'Ada says yes' })).expect(200);
  (await ada.post('/api/v1/users', { email: 'eve@people.example', name: 'Eve Lovelace', role: 'viewer' })).expect(201);
  (await ada.patch(`/api/v1/users/${people['bob']!.id}`, { name: 'Bobby Lovelace' })).expect(200);
  await bob.post('/api/v1/users', { email: 'x@people.example', role: 'viewer' });
  await allSigned(server);
  vkey = await verifierKeyOf(server);
});

afterAll(() => server?.stop());

const textOf = (file: Downloaded) => file.bytes.toString('utf8');

describe("a person's export", () => {
  test('holds what is theirs, proven, and nothing of anybody else', async () => {
    const file = await download(server, people['ada']!.key, pathOf(people['ada']!.id), { format: 'jsonl' });
    expect(file.status).toBe(200);
    const text = textOf(file);
    for (const own of ['ada@people.example', 'ada Lovelace', 'Ada says no', 'Ada says yes', '203.0.113.7']) expect(text).toContain(own);
    const others = ['bob@', 'Bobby', 'bob Love', 'eve@', 'Eve Love', 'dora@', 'cleo@', 'Cleo Patra', '"hello"', '198.51.100.9',
      '203.0.113.88'];
    for (const foreign of others) {
      expect([foreign, text.includes(foreign)]).toEqual([foreign, false]);
    }
    const result = await verifyBytes(file.bytes, [vkey]);
    expect(result).toMatchObject({ exitCode: 0, breaks: [], covers: 'person', verdict: 'valid' });
    expect(result.counts.withheld).toBeGreaterThan(0);
    const events = file.lines().filter((one) => one.kind === 'entry').map((one) => one['event']);
    expect(events).toEqual(expect.arrayContaining(['admin.user_created', 'admin.user_updated', 'hitl.rejected', 'hitl.approved']));
    expect(file.lines().find((one) => one.kind === 'profile')).toMatchObject({ profile: { id: people['ada']!.id, role: 'admin' } });
    expect(file.lines().some((one) => one.kind === 'records')).toBe(true);
  });

  test('holds entries that are about them, and what these say of them', async () => {
    const text = textOf(await download(server, people['bob']!.key, pathOf(people['bob']!.id), { format: 'jsonl' }));
    for (const own of ['bob@people.example', 'Bobby Lovelace', '"event":"execution.']) expect(text).toContain(own);
    for (const foreign of ['ada@', 'Ada says', '203.0.113.7', 'cleo@', 'Cleo Patra']) {
      expect([foreign, text.includes(foreign)]).toEqual([foreign, false]);
    }
  });

  test.each(['json', 'json.gz', 'jsonl'])('is sound as %s; a changed byte of it is found', async (format) => {
    const file = await download(server, people['ada']!.key, pathOf(people['ada']!.id), { format });
    expect((await verifyBytes(file.bytes, [vkey], `a.${format}`)).breaks).toEqual([]);
    if (format.endsWith('.gz')) return;
    const at = file.bytes.indexOf('Ada says no');
    const changed = Buffer.from(file.bytes);
    changed[at] = changed[at]! ^ 1;
    expect(await verifyBytes(changed, [vkey])).toMatchObject({ exitCode: 1, verdict: 'tampered' });
  });

  test('reads for people as CSV, with what is left out marked', async () => {
    const text = textOf(await download(server, people['ada']!.key, pathOf(people['ada']!.id), { format: 'csv' }));
    for (const there of ['#profile', 'Ada says no', '[withheld]']) expect(text).toContain(there);
    // Nothing shorter: the digests of a file are base64url, and three letters stand in them by chance once in a hundred files.
    expect(text).not.toMatch(/bob@|cleo@|Cleo Patra|Eve Love/);
  });

  test('is JSON unless another form is asked for, and recorded before it is sent', async () => {
    const reply = await people['dora']!.client.get(pathOf(people['dora']!.id));
    expect(reply.expect(200).at('lines.0.what')).toBe('person');
    const rows = await server.sql<{ actor_id: string; payload: string }>(
      `select actor_id, payload from audit_entries where event = 'gdpr.export_requested' order by id`);
    expect(rows.at(-1)).toMatchObject({ actor_id: people['dora']!.id });
    expect(JSON.parse(rows.at(-1)!.payload)).toMatchObject({ metadata: { userId: people['dora']!.id, format: 'json' } });
  });

  test('is for themself and for administrators of their organization', async () => {
    const stranger = await aPerson(server, 'admin', { organizationId: await anOrganization(server) });
    const count = () => server.sql(`select 1 from audit_entries where event = 'gdpr.export_requested'`).then((rows) => rows.length);
    const before = await count();
    const bob = people['bob']!.id;
    (await people['dora']!.client.get(pathOf(bob))).expect(403, 'FORBIDDEN');
    (await stranger.client.get(pathOf(bob))).expect(404, 'NOT_FOUND');
    (await people['bob']!.client.get(pathOf(stranger.id))).expect(404, 'NOT_FOUND');
    (await people['ada']!.client.get(pathOf('usr_nobody'))).expect(404);
    (await anonymous(server).get(pathOf(bob))).expect(401);
    expect(await count()).toBe(before);
    for (const key of [people['ada']!.key, ROOT_KEY]) {
      const file = await download(server, key, pathOf(bob), { format: 'jsonl' });
      expect((await verifyBytes(file.bytes, [vkey])).breaks).toEqual([]);
    }
  });
});
