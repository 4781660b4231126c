import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { anonymous, asRoot } from '../../support/http/actors.js';
import { anAgent, type BuiltAgent } from '../../support/builders/agents.js';
import { aPerson } from '../../support/builders/people.js';
import { eventually } from '../../support/running/eventually.js';
import { startServer, type TestServer } from '../../support/servers/server.js';
import { startWitness, type Witness } from '../../support/log/witness.js';

const PATIENT = { every: 100 };
const HARDCODED = 'finance.transfer';

let witness: Witness;
let server: TestServer;
let agent: BuiltAgent;

beforeAll(async () => {
  witness = await startWitness();
  server = await startServer();
  const [key] = await server.sql<{ verifier: string }>(
    `select payload::json -> 'metadata' ->> 'keyId' as verifier from audit_entries where event = 'admin.signing_key_rotated'`);
  witness.know(key!.verifier);
  await server.restart({
    AUDIT_ANCHORS: `${server.database.anchors},witness:${witness.url}`, AUDIT_CHECKPOINT_SECONDS: '1', AUDIT_UNANCHORED_MAX_SECONDS: '4',
  });
  agent = await anAgent(server).granted('web.search').granted(HARDCODED, { hitlMode: 'escalate' }).create();
});
afterAll(async () => {
  await server.stop();
  await witness.stop();
});

const ready = async () => (await anonymous(server).get('/health/ready')).expect(200);
const ask = (capability: string) => agent.client.post('/api/v1/execute', { capability, input: {} });
const entries = async () => (await server.sql<{ n: string }>('select count(*) as n from audit_entries'))[0]!.n;

async function fresh(): Promise<void> {
  await eventually(async () => expect((await ready()).number('unanchoredSeconds')).toBe(0), PATIENT);
}

async function stale(): Promise<void> {
  await eventually(async () => {
    expect((await ready()).number('unanchoredSeconds')).toBeGreaterThan(4);
    expect((await ready()).text('anchorWarning')).toMatch(/not at every anchor/);
  }, PATIENT);
}

test('every anchor gets what is signed; the witness has seen all of it grow', async () => {
  const marks = await eventually(async () => {
    const rows = await server.sql<{ destination: string; size: string; note: string }>('select * from audit_anchors order by destination');
    expect(rows.map(({ destination }) => destination.split(':')[0])).toEqual(['file', 'witness']);
    return rows;
  }, PATIENT);
  await fresh();
  expect(marks[1]!.note).toMatch(/\n— witness\.example \S+\n$/);
  expect(witness.cosigned.map(({ size }) => size)).toContain(Number(marks[1]!.size));
});

test('a witness that is away holds up nothing but, past the limit, what is hardcoded, until it is back', async () => {
  await fresh();
  (await ask(HARDCODED)).expect(202);
  const asked = (await ask(HARDCODED)).expect(202).text('hitlRequestId');
  const admin = await aPerson(server, 'admin');
  await fresh();
  await witness.away();
  (await ask('web.search')).expect(200);
  await stale();
  const before = await entries();
  (await ask(HARDCODED)).expect(503, 'UNAVAILABLE');
  (await admin.client.post(`/api/v1/hitl/${asked}/approve`, { note: 'now' })).expect(503, 'UNAVAILABLE');
  expect(await entries()).toBe(before);
  (await ask('web.search')).expect(200);
  expect((await asRoot(server).get(`/api/v1/hitl/${asked}`)).at('status')).toBe('escalated');
  const [signed] = await server.sql<{ ahead: boolean }>(
    `select (select max(size) from audit_checkpoints where organization_id = 'platform') >
       (select size from audit_anchors where destination like 'witness:%') as ahead`);
  expect(signed!.ahead).toBe(true);
  // A verification says whom it could not ask.
  const verified = (await asRoot(server).get('/api/v1/audit/verify')).expect(200);
  expect(verified.at('anchorsNotCompared')).toEqual([{ name: `witness:${witness.url}`, because: 'no_answer' }]);
  await witness.back();
  await fresh();
  await eventually(async () => (await ask(HARDCODED)).expect(202), PATIENT);
  (await admin.client.post(`/api/v1/hitl/${asked}/approve`, { note: 'now' })).expect(200);
});

test('a folder is for one server, unless all share it: readiness says so', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'anchors-'));
  const replica = await startServer({ replicaOf: server, env: { AUDIT_ANCHORS: `file:${folder}` } });
  const sharing = await startServer({ replicaOf: server, env: { AUDIT_ANCHORS: server.database.anchors } });
  try {
    const at = async (asked: TestServer) => (await anonymous(asked).get('/health/ready')).expect(200);
    await eventually(async () => {
      expect((await at(replica)).text('anchorWarning')).toMatch(/^3 servers use this database, and the folder/);
    }, PATIENT);
    expect((await at(replica)).text('anchorWarning')).not.toContain(folder);
    for (const asked of [server, sharing]) expect((await at(asked)).body).not.toHaveProperty('anchorWarning');
  } finally {
    await Promise.all([replica.stop(), sharing.stop()]);
    rmSync(folder, { recursive: true });
  }
});
