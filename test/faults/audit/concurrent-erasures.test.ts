import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { organizationChain } from '../../../src/domain/audit/entry/chain.js';
import { sharedChange } from '../../../src/modules/organizations/shared-change.js';
import { asService } from '../../../src/platform/auth/access/call-context.js';
import { CredentialSources } from '../../../src/platform/auth/credentials/credential-source.js';
import { createDataSource } from '../../../src/platform/database/data-source.js';
import { IdempotencyKeys } from '../../../src/platform/database/transaction/idempotency.js';
import { UnitOfWork } from '../../../src/platform/database/transaction/unit-of-work.js';
import { OutboxSignal } from '../../../src/platform/outbox/outbox-signal.js';
import { as, asRoot } from '../../support/http/actors.js';
import { anAgent, type BuiltAgent } from '../../support/builders/agents.js';
import { columnsWith, erased, erasuresOf, verification } from '../../support/erasure/erasures.js';
import { defineCapability, executionBecomes, requestOf } from '../../support/builders/gate.js';
import { aPerson, firstOrganization, type BuiltPerson } from '../../support/builders/people.js';
import { aDoor } from '../../support/proofs/races.js';
import { startReceiver, type Receiver } from '../../support/http/receiver.js';
import { aged, archiveFolder, inArchives, swept, verifiedArchives } from '../../support/retention/retention.js';
import { startServer, type TestServer } from '../../support/servers/server.js';

const MANY = 1_600;
const AT_ONCE = 400;

let one: TestServer;
let two: TestServer;
let receiver: Receiver;
let archive: string;
let organizationId: string;
let admin: BuiltPerson;
let second: BuiltPerson;

beforeAll(async () => {
  [archive, receiver] = await Promise.all([archiveFolder(), startReceiver()]);
  const env = { AUDIT_ARCHIVE: archive, AUDIT_CHECKPOINT_SECONDS: '1' };
  one = await startServer({ env });
  two = await startServer({ replicaOf: one, env });
  organizationId = await firstOrganization(one);
  [admin, second] = [await aPerson(one, 'admin', { organizationId }), await aPerson(one, 'owner', { organizationId })];
  await defineCapability(one, 'crm.push', { connector: { type: 'http', method: 'POST', url: receiver.url, body: '{input}' } });
});
afterAll(async () => {
  await two.stop();
  await one.stop();
  await receiver.close();
});

const somebody = () => `Grace Hopper-${randomBytes(4).toString('hex')}`;
const ask = (server: TestServer, values: readonly string[]) =>
  as(server, admin.key).post('/api/v1/audit/erasures', { values, reason: 'they asked' });

/** Until nothing runs any more; whatever waits for a second person gets one. */
async function ended(within?: number): Promise<void> {
  for (;;) {
    await erased(one, within);
    const waiting = (await erasuresOf(asRoot(one))).filter(({ state }) => state === 'unconfirmed');
    for (const { id } of waiting) (await as(two, second.key).post(`/api/v1/audit/erasures/${id}/confirm`)).expect(200);
    if (waiting.length === 0) return;
  }
}

const agentOf = (capability: string, mode = 'auto'): Promise<BuiltAgent> =>
  anAgent(one).inOrganization(organizationId).granted(capability, { hitlMode: mode }).create();

/** So many entries about a user, past the servers. */
async function entriesAbout(userId: string, email: string, count: number): Promise<void> {
  const dataSource = createDataSource({ url: one.database.url, poolSize: 1, connectTimeoutMs: 10_000 });
  await dataSource.initialize();
  try {
    const keys = new IdempotencyKeys({ encryptionKey: randomBytes(32).toString('base64') });
    const work = new UnitOfWork(dataSource, new CredentialSources(), keys, new OutboxSignal());
    const chain = organizationChain(organizationId);
    for (let n = 0; n < count; n += AT_ONCE) {
      await asService('cli', () => work.run(sharedChange(organizationId), async (tx) => {
        for (let i = 0; i < AT_ONCE; i++) {
          tx.record(chain, { type: 'admin.user_created', metadata: { userId, email: `${n + i}.${email}`, name: email, role: 'viewer' } });
        }
        await Promise.resolve();
      }));
    }
  } finally {
    await dataSource.destroy();
  }
}

test('of a user with more entries than one report lists; their open key is refused at once by both servers', async () => {
  const email = `many.${randomBytes(4).toString('hex')}@example.org`;
  const made = await asRoot(one).post('/api/v1/users', { email, name: 'Mary Many', role: 'viewer', organizationId });
  const id = made.expect(201).text('user.id');
  const key = (await asRoot(one).post(`/api/v1/users/${id}/keys`, { name: 'theirs' })).expect(201).text('secret');
  for (const server of [one, two]) (await as(server, key).get('/api/v1/users/me')).expect(200);
  await entriesAbout(id, email, MANY);
  const answer = (await as(two, admin.key).delete(`/api/v1/users/${id}/data`)).expect(200);
  for (const server of [one, two]) (await as(server, key).get('/api/v1/users/me')).expect(401, 'UNAUTHENTICATED');
  await ended(200_000);
  const [erasure] = (await erasuresOf(admin.client)).filter(({ id: found }) => found === answer.text('erasures.0.id'));
  expect(erasure).toMatchObject({ state: 'done', counts: { unreadable: 0 } });
  expect(erasure!.counts.values).toBeGreaterThanOrEqual(2 * MANY);
  expect(await columnsWith(one, email, ['audit_entries', 'erasures', 'users', 'personal_keys'])).toEqual([]);
  const [most] = await one.sql<{ pairs: number }>(`select max(json_array_length(payload::json #> '{metadata,erased}'))::integer as pairs
    from audit_entries where organization_id = $1 and event = 'gdpr.erasure_executed'`, [organizationId]);
  expect(most!.pairs).toBeLessThanOrEqual(1_000);
  expect(await verification(one)).toMatchObject({ valid: true, breaks: [] });
});

test('of a text in requests that wait, in approved ones, and in what runs; asked of two servers at once', async () => {
  const [customer, other] = [somebody(), somebody()];
  const [asking, pushing, searching] = [await agentOf('email.send', 'propose'), await agentOf('crm.push'), await agentOf('web.search')];
  const requests = await Promise.all(Array.from({ length: 10 }, async (_, n) =>
    (await asking.client.post('/api/v1/execute', { capability: 'email.send', input: { to: customer, cc: other, n } })).expect(202)
      .text('hitlRequestId')));
  const [approved, open] = [requests.slice(0, 3), requests.slice(3)];
  for (const id of approved) {
    const { action_digest: expectedDigest } = await requestOf(one, id);
    // By root: of people that a test puts beside the log, replay knows nothing.
    (await asRoot(one).post(`/api/v1/hitl/${id}/approve`, { expectedDigest, note: `for ${customer}` })).expect(200);
  }
  for (let n = 0; n < 10; n++) {
    (await searching.client.post('/api/v1/execute', { capability: 'web.search', input: { q: `${customer} ${n}`, other } })).expect(200);
  }
  const door = aDoor();
  receiver.script({ after: door.opened, body: { sentTo: customer } });
  const running = pushing.client.post('/api/v1/execute', { capability: 'crm.push', input: { to: customer, kept: 'this' } });
  await receiver.received(1);
  const answers = await Promise.all([ask(one, [customer]), ask(two, [other]), ask(two, [customer])]);
  for (const answer of answers) expect([200, 202]).toContain(answer.status);
  door.open();
  const execution = (await running).expect(200).text('executionId');
  await executionBecomes(one, execution, 'executed', 30_000);
  await ended(120_000);
  for (const text of [customer, other]) expect([text, await columnsWith(one, text)]).toEqual([text, []]);
  for (const id of open) expect(await requestOf(one, id)).toMatchObject({ status: 'cancelled' });
  const entry = await one.sql<{ disclosures: string }>(
    `select disclosures from audit_entries where chain = $1 and event = 'execution.started'`, [pushing.id]);
  expect(entry[0]!.disclosures).toContain('this');
  expect(await verification(two)).toMatchObject({ valid: true, breaks: [] });
});

describe('while retention runs beside', () => {
  test('nothing of them is left, wherever their entries were by then, and all verifies', async () => {
    // What the other tests have left goes first, in large pieces.
    await aged(one.database);
    await swept(one.database, archive);
    const customers = [somebody(), somebody(), somebody()];
    const searching = await agentOf('web.search');
    for (let n = 0; n < 24; n++) {
      const input = { q: `${customers[n % 3]} ${n}`, kept: `number ${n}` };
      (await searching.client.post('/api/v1/execute', { capability: 'web.search', input })).expect(200);
    }
    await aged(one.database);
    const [, ...answers] = await Promise.all([
      // Where an erasure has an archive open there is nothing to be swept meanwhile.
      swept(one.database, archive, 6).catch((error: Error) => error),
      ...customers.map((customer, n) => ask(n === 0 ? one : two, [customer])),
    ]);
    for (const answer of answers) expect([200, 202]).toContain(answer.status);
    await ended(120_000);
    await swept(one.database, archive);
    await ended(120_000);
    expect(await inArchives(archive, customers)).toEqual([]);
    for (const customer of customers) expect(await columnsWith(one, customer)).toEqual([]);
    expect(await verifiedArchives(one.database, archive)).toMatchObject({ valid: true, breaks: [] });
    expect(await verification(one)).toMatchObject({ valid: true, breaks: [] });
  });
});
