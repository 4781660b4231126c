import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { verifierKey } from '../../../src/domain/audit/notes/note.js';
import { anonymous, asRoot } from '../../support/http/actors.js';
import { appendPast } from '../../support/log/append-past.js';
import { anAgent, type BuiltAgent } from '../../support/builders/agents.js';
import { countersign } from '../../support/servers/command-line.js';
import { verification } from '../../support/erasure/erasures.js';
import { eventually } from '../../support/running/eventually.js';
import { allSigned, download, verifierKeyOf, verifyBytes } from '../../support/log/exports.js';
import { withoutLeader } from '../../support/log/leader.js';
import { anOrganization, aPerson, type BuiltPerson } from '../../support/builders/people.js';
import { rewriteHistory, signWith } from '../../support/log/rewritten-log.js';
import { startServer, type TestServer } from '../../support/servers/server.js';
import { ROOT_KEY, TEST_ENVIRONMENT } from '../../support/servers/test-run.js';

// Whoever owns the database can write that another key signs, theirs, and sign a history of their own with it. The key before has not
// vouched for it, and so nobody believes it.

const PATIENT = { every: 100 };
const NOT_VOUCHED = expect.stringMatching(/has not vouched|none for which this server's key/);

let server: TestServer;
let agent: BuiltAgent;
let admin: BuiltPerson;
let seed: string;
let realKey: string;

beforeEach(async () => {
  server = await startServer({ env: { AUDIT_CHECKPOINT_SECONDS: '1' } });
  const organizationId = await anOrganization(server);
  admin = await aPerson(server, 'owner', { organizationId });
  agent = await anAgent(server).inOrganization(organizationId).granted('web.search').create();
  (await agent.client.post('/api/v1/execute', { capability: 'web.search', input: { q: 'steel' } })).expect(200);
  await allSigned(server);
  realKey = await verifierKeyOf(server);
  seed = randomBytes(32).toString('base64');
});
afterEach(() => server?.stop());

const name = () => realKey.slice(0, realKey.indexOf('+'));
const resetRateLimit = () => server.sql('delete from audit_verification_rate_limits');

async function rewritten(): Promise<void> {
  await rewriteHistory(server.database, agent.id, 'system');
  await server.database.asSuperuser(
    `update audit_subjects set user_id = 'system' where chain = '${agent.id}' and seq = 1 and pointer = '/actorId'`);
  await signWith(server.database, seed);
}

async function byCommand(env: Record<string, string>, ...words: string[]): Promise<Found> {
  const { stdout, stderr } = await countersign(
    ['audit', 'verify', '--json', '--no-remember', '--database-url', server.database.url, ...words],
    { AUDIT_ANCHORS: server.database.anchors, ...env });
  if (stdout === '') throw new Error(stderr);
  return JSON.parse(stdout) as Found;
}

interface Found {
  readonly verdict: string;
  readonly breaks: readonly { readonly kind: string; readonly detail: string }[];
}

/** What everybody finds who verifies, with the server's key or without any. */
async function everybody(): Promise<Record<string, Found>> {
  const found: Record<string, Found> = { 'GET /audit/verify': (await verification(server)) as unknown as Found };
  await resetRateLimit();
  found['GET /audit/verify, an administrator'] = (await admin.client.get('/api/v1/audit/verify')).expect(200).body as unknown as Found;
  await resetRateLimit();
  found['GET /audit/verify?agent_id='] =
    (await asRoot(server).get('/api/v1/audit/verify', { query: { agent_id: agent.id } })).expect(200).body as unknown as Found;
  found['audit verify'] = await byCommand({});
  found['audit verify --agent'] = await byCommand({}, '--agent', agent.id);
  found['audit verify, with the key'] = await byCommand({ AUDIT_SIGNING_KEY: TEST_ENVIRONMENT['AUDIT_SIGNING_KEY']! });
  const files = { 'verify.mjs': ROOT_KEY, 'verify.mjs, an administrator': admin.key };
  for (const [who, key] of Object.entries(files)) {
    found[who] = await verifyBytes((await download(server, key, '/api/v1/audit/export')).bytes);
  }
  return found;
}

async function held(): Promise<void> {
  await eventually(async () => {
    const { body } = (await anonymous(server).get('/health/ready')).expect(503, 'UNAVAILABLE');
    expect(JSON.stringify(body)).toMatch(/has not vouched for it: the audit log was rewritten in the database.*countersign recover/);
  }, PATIENT);
}

const namesKeys = {
  verdict: 'tampered', breaks: expect.arrayContaining([expect.objectContaining({ kind: 'checkpoint_invalid', detail: NOT_VOUCHED })]),
};

test('announced by an entry that anybody can append: nobody believes it, and the server is held', async () => {
  await appendPast(server.database, { type: 'admin.signing_key_rotated', metadata: { keyId: verifierKey(name(), seed) } });
  await allSigned(server);
  const found = await withoutLeader(server.database, async () => {
    await rewritten();
    return everybody();
  });
  for (const [who, one] of Object.entries(found)) expect([who, one]).toEqual([who, expect.objectContaining(namesKeys)]);
  await held();
  expect((await agent.client.post('/api/v1/execute', { capability: 'web.search', input: { q: 'x' } })).status).toBe(503);
  await server.restart();
  await held();
});

test('never announced: nobody believes it, also who sees one agent alone; and it cannot be recovered', async () => {
  const found = await withoutLeader(server.database, async () => {
    await rewritten();
    return everybody();
  });
  for (const [who, one] of Object.entries(found)) expect([who, one]).toEqual([who, expect.objectContaining(namesKeys)]);
  await held();

  const recover = (...words: string[]) => countersign(['recover', ...words], {
    ...TEST_ENVIRONMENT, DATABASE_URL: server.database.url, AUDIT_ANCHORS: server.database.anchors,
  });
  expect((await recover()).stdout).toContain("the platform's tree\n    is not the one that was signed");
  const refused = await recover('--accept-loss');
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringMatching(/was rewritten in the database.*or a backup, back/)]);
  await held();
});

test('never announced, and with a note beside it that the real key has signed over something else: nobody believes it', async () => {
  const found = await withoutLeader(server.database, async () => {
    await signWith(server.database, seed);
    await server.database.asSuperuser(`update audit_signing_keys set note = (
      select c.note from audit_checkpoints c where c.organization_id = 'platform' order by c.size limit 1) where retired_at_size is null`);
    return everybody();
  });
  for (const [who, one] of Object.entries(found)) expect([who, one]).toEqual([who, expect.objectContaining(namesKeys)]);
  await held();
});
