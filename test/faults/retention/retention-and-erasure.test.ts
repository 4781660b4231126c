import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { rename } from 'node:fs/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { DirectoryArchive } from '../../../src/modules/audit/retention/archives/directory-archive.js';
import { ArchivedDisclosures } from '../../../src/modules/audit/retention/archives/archived-disclosures.js';
import { as, asRoot } from '../../support/http/actors.js';
import { anAgent, type BuiltAgent } from '../../support/builders/agents.js';
import { whileCaught } from '../../support/running/captured-output.js';
import { columnsWith, erased, erasuresOf, type SeenErasure, verification } from '../../support/erasure/erasures.js';
import { download, verifyBytes } from '../../support/log/exports.js';
import { anOrganization, aPerson, type BuiltPerson } from '../../support/builders/people.js';
import { namesIn } from '../../support/retention/archive-objects.js';
import {
  aged, archiveFolder, brokenArchives, inArchives, swept, sweepProcess, verifiedArchives, verifiedWithArchives,
} from '../../support/retention/retention.js';
import { startServer, type TestServer } from '../../support/servers/server.js';
import { ROOT_KEY } from '../../support/servers/test-run.js';
import { transferred, welcomed } from '../../support/builders/transfers.js';

let server: TestServer;
let archive: string;
let organizationId: string;
let admin: BuiltPerson;
let second: BuiltPerson;
let agent: BuiltAgent;
let customer: string;

beforeAll(async () => {
  archive = await archiveFolder();
  server = await startServer({ env: { AUDIT_CHECKPOINT_SECONDS: '1', AUDIT_ARCHIVE: archive, TRUSTED_PROXIES: '127.0.0.1' } });
});
afterAll(() => server.stop());

beforeEach(async () => {
  organizationId = await anOrganization(server);
  [admin, second] = [await aPerson(server, 'admin', { organizationId }), await aPerson(server, 'owner', { organizationId })];
  agent = await anAgent(server).inOrganization(organizationId)
    .granted('web.search').granted('email.send', { hitlMode: 'propose' }).create();
  customer = `Grace Hopper-${randomBytes(4).toString('hex')}`;
});

const kept = () => `${customer}x`;
const search = async (input: object) => (await agent.client.post('/api/v1/execute', { capability: 'web.search', input })).expect(200);

async function theyWereThere(): Promise<void> {
  await search({ to: customer, [`note on ${customer}`]: 'sent', kept: kept() });
  await search({ list: [{ deep: `for ${customer}, today` }] });
}

async function sweep(): Promise<void> {
  await aged(server.database);
  await swept(server.database, archive);
}

/** Asks for it, has it confirmed where that is wanted, and waits for its end. */
async function erase(values: readonly string[]): Promise<SeenErasure> {
  const asked = await admin.client.post('/api/v1/audit/erasures', { values, reason: 'they asked' });
  expect([200, 202]).toContain(asked.status);
  const id = asked.text('erasure.id');
  const now = async () => (await erasuresOf(admin.client)).find((one) => one.id === id)!;
  for (;;) {
    await erased(server);
    const erasure = await now();
    if (erasure.state !== 'unconfirmed') return erasure;
    (await second.client.post(`/api/v1/audit/erasures/${id}/confirm`)).expect(200);
  }
}

const left = (chain: string) => server.sql<{ event: string }>('select event from audit_entries where chain = $1 order by seq', [chain]);

async function listedPairs(): Promise<number> {
  const rows = await server.sql<{ pairs: number }>(`select json_array_length(payload::json #> '{metadata,erased}') as pairs
    from audit_entries where organization_id = $1 and event = 'gdpr.erasure_executed'`, [organizationId]);
  return rows.reduce((sum, { pairs }) => sum + pairs, 0);
}

/** By the server, by the command of the archives, and by the verifier that knows nothing of this service. */
async function allVerifies(): Promise<void> {
  expect(await verifiedArchives(server.database, archive)).toMatchObject({ valid: true, breaks: [] });
  expect(await brokenArchives(archive)).toEqual([]);
  expect(await verification(server)).toMatchObject({ valid: true, breaks: [] });
  const { status, bytes } = await download(server, ROOT_KEY, '/api/v1/audit/export');
  expect(status).toBe(200);
  expect(await verifyBytes(bytes)).toMatchObject({ verdict: expect.stringMatching(/^valid/), breaks: [] });
}

describe('sweep, then erase', () => {
  test('values are gone from the archive\'s bytes, and listed in the log; what somebody decided a second person confirms', async () => {
    await theyWereThere();
    const asked = (await agent.client.post('/api/v1/execute', { capability: 'email.send', input: { to: 'x' } })).expect(202);
    (await second.client.post(`/api/v1/hitl/${asked.text('hitlRequestId')}/reject`, { note: `${customer} said no` })).expect(200);
    await sweep();
    expect(await left(agent.id)).toEqual([]);
    expect(await inArchives(archive, [customer])).toEqual([customer]);
    const erasure = await erase([customer]);
    expect(erasure).toMatchObject({ state: 'done', confirmedBy: second.id, counts: { rows: { archived: 3 } } });
    expect(erasure.counts.values).toBeGreaterThanOrEqual(4);
    expect(await listedPairs()).toBeGreaterThanOrEqual(erasure.counts.values);
    expect(await inArchives(archive, [customer])).toEqual([customer]);
    const gone = [`${customer}\\`, `${customer} said no`, `for ${customer}`, `note on ${customer}`];
    expect(await inArchives(archive, [...gone, kept()])).toEqual([kept()]);
    await allVerifies();
    // What lists them is swept later, and then lists them from the archive.
    await sweep();
    expect(await listedPairs()).toBe(0);
    await allVerifies();
  });

  test('of a user: their own values go at once, and what a swept decision says waits for a second person', async () => {
    const email = `own.${customer.slice(-8)}@example.org`;
    const made = await admin.client.post('/api/v1/users', { email, name: customer, role: 'viewer' });
    const asked = (await agent.client.post('/api/v1/execute', { capability: 'email.send', input: { to: 'x' } })).expect(202);
    (await admin.client.post(`/api/v1/hitl/${asked.text('hitlRequestId')}/reject`, { note: `${customer} said no` })).expect(200);
    await sweep();
    const texts = [email, `${customer} said no`];
    expect(await inArchives(archive, texts)).toEqual(texts.toSorted());
    (await admin.client.delete(`/api/v1/users/${made.expect(201).text('user.id')}/data`)).expect(200);
    await erased(server);
    const [waiting] = await erasuresOf(admin.client);
    expect(waiting).toMatchObject({ kind: 'user', state: 'unconfirmed', counts: { byText: 0 } });
    expect(await inArchives(archive, texts)).toEqual([`${customer} said no`]);
    await allVerifies();
    (await second.client.post(`/api/v1/audit/erasures/${waiting!.id}/confirm`)).expect(200);
    await erased(server);
    expect(await erasuresOf(admin.client)).toMatchObject([{ state: 'done', confirmedBy: second.id }]);
    expect(await inArchives(archive, texts)).toEqual([]);
    await allVerifies();
  });

  test('of a user: also what only the swept entries know was theirs', async () => {
    const [email, before, name, address] =
      [`r.${customer.slice(-8)}@example.org`, `before.${customer.slice(-8)}@example.org`, `Rosa ${customer}`, '203.0.113.91'];
    const made = await asRoot(server).post('/api/v1/users', { email: before, name: `Former ${customer}`, role: 'admin', organizationId });
    const id = made.expect(201).text('user.id');
    (await asRoot(server).patch(`/api/v1/users/${id}`, { email, name })).expect(200);
    const key = (await asRoot(server).post(`/api/v1/users/${id}/keys`, { name: 'theirs' })).expect(201).text('secret');
    const they = as(server, key).with({ 'x-forwarded-for': address });
    (await they.post('/api/v1/teams', { name: `team ${customer.slice(-8)}`, description: `led by ${name}` })).expect(201);
    await search({ about: before, from: address });
    await sweep();
    // In the log it stands after the sweep: what the archive tells is searched for here, too.
    await search({ late: `Former ${customer}` });
    const texts = [email, before, name, address, `Former ${customer}`];
    expect(await inArchives(archive, texts)).toEqual([...texts].sort());
    (await admin.client.delete(`/api/v1/users/${id}/data`)).expect(200);
    await erased(server);
    expect(await inArchives(archive, texts)).toEqual([]);
    for (const text of texts) expect([text, await columnsWith(server, text, ['audit_entries'])]).toEqual([text, []]);
    await allVerifies();
  });

  test('again, and others of the same archive: each is gone, and nothing comes back', async () => {
    const other = `Katherine Johnson-${customer.slice(-8)}`;
    await search({ to: customer, cc: other });
    await sweep();
    await erase([other]);
    await Promise.all([erase([`to ${customer} only`]), erase([customer])]);
    await erase([other]);
    expect(await inArchives(archive, [customer, other])).toEqual([]);
    await allVerifies();
  });

  test('from an archive that was thrown away there is nothing to erase, and the erasure says so', async () => {
    await theyWereThere();
    await sweep();
    const [there, elsewhere] = [join(archive, organizationId), await archiveFolder()];
    await rename(there, join(elsewhere, 'kept'));
    expect(await erase([customer])).toMatchObject({ state: 'done', counts: { rows: { archivesGone: 1 } } });
    await rename(join(elsewhere, 'kept'), there);
  });
});

describe('erase, then sweep', () => {
  test('what was blank is archived blank; the erasure stays as long as what it lists, and goes with it', async () => {
    await theyWereThere();
    const erasure = await erase([customer]);
    expect(erasure.counts.values).toBeGreaterThanOrEqual(3);
    await sweep();
    expect(await left(agent.id)).toEqual([]);
    expect(await listedPairs()).toBe(0);
    expect(await inArchives(archive, [`for ${customer}`, `note on ${customer}`])).toEqual([]);
    await allVerifies();
  });
});

describe('at once', () => {
  const caught = `select from audit_sweeps where state = 'writing' for update`;

  test('what is erased while a sweep writes is in no archive: the sweep throws that away and begins anew', async () => {
    await theyWereThere();
    await aged(server.database);
    const sweeping = sweepProcess(server.database, archive);
    const began = await whileCaught(server.database, caught, async () => {
      const [{ id }] = (await server.sql<{ id: string }>(`select id from audit_sweeps where state = 'writing'`)) as [{ id: string }];
      const asked = await admin.client.post('/api/v1/audit/erasures', { values: [customer], reason: 'they asked' });
      asked.expect(200);
      return id;
    });
    await sweeping.ended;
    await sweep();
    await erased(server);
    expect(await server.sql('select id from audit_sweeps where id = $1 and organization_id = $2', [began, organizationId])).toEqual([]);
    expect(await inArchives(archive, [`for ${customer}`, `note on ${customer}`])).toEqual([]);
    expect(await left(agent.id)).toEqual([]);
    await allVerifies();
  });

  test('what a sweep that was killed has left goes with an erasure, though nothing is swept any more', async () => {
    await theyWereThere();
    await aged(server.database);
    const sweeping = sweepProcess(server.database, archive);
    await whileCaught(server.database, caught, async () => {
      await sweeping.kill();
    });
    await erase([customer]);
    const unfinished = `select id from audit_sweeps where state in ('writing', 'verified') and organization_id = $1`;
    expect(await server.sql(unfinished, [organizationId])).toEqual([]);
    expect(await inArchives(archive, [`for ${customer}`, `note on ${customer}`])).toEqual([]);
    await sweep();
    await allVerifies();
  });
});

test('what is changed in an archive is found', async () => {
  await search({ q: 'Ada Lovelace' });
  await sweep();
  const store = new DirectoryArchive(archive);
  const disclosures = new ArchivedDisclosures(store);
  const sweeps = (await server.sql<{ id: string }>('select id from audit_sweeps where organization_id = $1', [organizationId]));
  const change = (from: string, to: string) => disclosures.rewrite(
    organizationId, sweeps.map(({ id }) => id), ({ text }) => text.replaceAll(from, to), () => Promise.resolve());
  await change('Ada Lovelace', 'Eve Lovelace');
  expect((await verifiedArchives(server.database, archive)).breaks.map(({ kind }) => kind)).toContain('archive_altered');
  const withLog = await verifiedWithArchives(server.database, archive);
  expect(withLog).toMatchObject({ verdict: 'tampered', archives: { breaks: withLog.archives!.breaks } });
  expect(withLog.breaks).toContainEqual(expect.objectContaining({ kind: 'archive_altered', chain: agent.id }));
  expect(await verifiedWithArchives(server.database, archive, '--agent', agent.id)).not.toHaveProperty('archives');
  await change('Eve Lovelace', 'Ada Lovelace');
  expect(await verifiedArchives(server.database, archive)).toMatchObject({ valid: true });
  expect((await verifiedWithArchives(server.database, archive)).breaks).toEqual([]);

  const names = (await namesIn(archive)).filter((name) => name.startsWith(`${organizationId}/`) && name.endsWith('skeleton.jsonl.gz'));
  const lines: string[] = [];
  for await (const line of store.read(names.at(-1)!)) lines.push(line);
  const without = async function* () {
    for (const line of lines.filter((_line, n) => n !== lines.length - 2)) yield await Promise.resolve(line);
  };
  await store.replace(names.at(-1)!, without());
  expect((await verifiedArchives(server.database, archive)).breaks.map(({ kind }) => kind)).toContain('archive_altered');
  await store.discard(names.at(-1)!.split('/').slice(0, 2).join('/'));
  expect((await verifiedArchives(server.database, archive)).breaks.map(({ kind }) => kind)).toContain('archive_altered');
});

test('an agent that has left, and come back, is swept in each organization', async () => {
  const other = await anOrganization(server);
  await search({ q: 'here' });
  (await transferred(server, agent, other)).expect(200);
  const there = await welcomed(server, agent);
  (await there.post('/api/v1/execute', { capability: 'web.search', input: { q: 'elsewhere' } })).expect(200);
  (await transferred(server, agent, organizationId)).expect(200);
  await welcomed(server, agent);
  await aged(server.database);
  await swept(server.database, await archiveFolder(), 4);
  expect(await left(agent.id)).toEqual([]);
});
