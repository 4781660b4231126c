import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { openCheckpoint, originOf } from '../../../src/domain/audit/notes/checkpoint.js';
import { readVerifierKey } from '../../../src/domain/audit/notes/note.js';
import type { Verification } from '../../../src/modules/audit/verification/verification-result.js';
import { verifyDatabase } from '../../../src/modules/audit/verification/verify-database.js';
import { anonymous, asRoot } from '../../support/http/actors.js';
import { anAgent, type BuiltAgent } from '../../support/builders/agents.js';
import { countersign } from '../../support/servers/command-line.js';
import { eventually } from '../../support/running/eventually.js';
import { withoutLeader } from '../../support/log/leader.js';
import { anOrganization } from '../../support/builders/people.js';
import { saveState } from '../../support/running/saved-state.js';
import { rewriteHistory, rewriteMap } from '../../support/log/rewritten-log.js';
import { startServer, type TestServer } from '../../support/servers/server.js';
import { TEST_ENVIRONMENT } from '../../support/servers/test-run.js';

// Whoever owns the database can write anything in it, but not sign. So the server must not sign for them.

const PATIENT = { every: 100 };
const OTHER_ROOT = Buffer.alloc(32, 7).toString('base64');

let server: TestServer;
let agent: BuiltAgent;
let organizationId: string;

beforeEach(async () => {
  server = await startServer({ env: { AUDIT_CHECKPOINT_SECONDS: '1' } });
  agent = await anAgent(server).granted('web.search').create();
  await execute();
  organizationId = (await asRoot(server).get(`/api/v1/agents/${agent.id}`)).text('agent.organizationId');
  await allSigned();
});
afterEach(() => server?.stop());

const execute = () => agent.client.post('/api/v1/execute', { capability: 'web.search', input: { q: 'steel' } });

const verified = (): Promise<Verification> =>
  verifyDatabase({ databaseUrl: server.database.url, organizations: 'all', threads: 0 });

interface Row {
  size: number;
  root: string;
  note: string;
}

async function newest(tree: string): Promise<Row | undefined> {
  const [row] = await server.sql<Row>(
    'select size::integer, root, note from audit_checkpoints where organization_id = $1 order by size desc limit 1', [tree]);
  return row;
}

async function allSigned(): Promise<void> {
  await eventually(async () => expect(await verified()).toMatchObject({ verdict: 'valid' }), PATIENT);
}

async function held(): Promise<string> {
  return eventually(async () => {
    const { body } = (await anonymous(server).get('/health/ready')).expect(503, 'UNAVAILABLE');
    const text = JSON.stringify(body);
    expect(text).toMatch(/was rewritten in the database.*or a backup, back/);
    return text;
  }, PATIENT);
}

const recover = (...args: string[]) => countersign(['recover', ...args], {
  ...TEST_ENVIRONMENT, DATABASE_URL: server.database.url, AUDIT_ANCHORS: server.database.anchors,
});

describe('an organization whose entries, tree and checkpoints were rewritten', () => {
  test('is not signed for when a replica takes the lead: the installation is in maintenance mode, and no loss is accepted', async () => {
    const rounds = (await newest('platform'))!.size;
    await withoutLeader(server.database, () => rewriteHistory(server.database, agent.id, 'usr_innocent'));
    expect(await held()).toContain(organizationId);
    (await execute()).expect(503, 'UNAVAILABLE');
    expect([await newest(organizationId), (await newest('platform'))!.size]).toEqual([undefined, rounds]);
    expect(await verified()).toMatchObject({ verdict: 'tampered' });

    const shown = await recover();
    expect([shown.code, shown.stderr]).toEqual([1, '']);
    expect(shown.stdout).toContain(`the tree of ${organizationId}\n    is not the one that was signed`);
    const refused = await recover('--accept-loss');
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringMatching(/was rewritten in the database.*or a backup, back/)]);
    expect(await held()).toContain(organizationId);
  });

  test('is held also where its owner says that nobody holds it', async () => {
    await withoutLeader(server.database, () => rewriteHistory(server.database, agent.id, 'usr_innocent'));
    await held();
    await server.database.asSuperuser(
      `create function lets_go() returns trigger language plpgsql as $$ begin
         new.held_because := null; new.held_at := null; return new; end $$`,
      'create trigger lets_go before update on instance for each row execute function lets_go()',
      'alter table instance enable always trigger lets_go',
      'update instance set held_because = null, held_at = null',
    );
    // Twice as long as a server waits before it looks again whether it may serve.
    for (const until = Date.now() + 10_000; Date.now() < until; await pause(100)) (await execute()).expect(503, 'UNAVAILABLE');
    await held();
  });

  test('is served again once the right database is back', async () => {
    const right = await saveState(server.database);
    try {
      await withoutLeader(server.database, () => rewriteHistory(server.database, agent.id, 'usr_innocent'));
      await held();
      await right.putBack();
      await eventually(async () => (await anonymous(server).get('/health/ready')).expect(200), PATIENT);
      (await execute()).expect(200);
      await allSigned();
    } finally {
      await right.drop();
    }
  });

  test('is signed for as it was while the leader knows it: what stands in the database is found', async () => {
    const before = (await newest(organizationId))!;
    await rewriteHistory(server.database, agent.id, 'usr_innocent');
    (await execute()).expect(200);
    const after = await eventually(async () => {
      const row = await newest(organizationId);
      expect(row?.size).toBeGreaterThan(before.size);
      return row!;
    }, PATIENT);
    // The old tree, grown by two entries: the forged one has another root at that size.
    const [stored] = await server.sql<{ hashes: string[] }>(
      'select tail_hashes as hashes from audit_trees where organization_id = $1', [organizationId]);
    expect(stored!.hashes.length).toBeGreaterThanOrEqual(after.size);
    const found = await verified();
    expect(found.verdict).toBe('tampered');
    expect(found.breaks.map(({ kind }) => kind)).toContain('tree_mismatch');
  });
});

test('heads of others in the map are not taken along: the database is held', async () => {
  const other = await anOrganization(server);
  await allSigned();
  const rounds = (await newest('platform'))!.size;
  await rewriteMap(server.database, other, { size: 1, root: OTHER_ROOT });
  (await execute()).expect(200);
  expect(await held()).toContain('The map of the organizations');
  const signed = (await newest('platform'))!;
  expect(signed.size).toBe(rounds);
});

// Signed, they would be another word of the key: that a sweep was ordered, that a checkpoint was given up; or the platform's own.
test.each([
  '<organization>/sweep', 'platform/given-up', 'platform', 'org_x\n7',
])('no tree is signed that is none of an organization: %j', async (named) => {
  const name = named.replace('<organization>', organizationId);
  const text = `E'${JSON.stringify(name).slice(1, -1)}'`;
  await withoutLeader(server.database, () => server.database.asSuperuser(
    'create table captured (note text)',
    'grant select on captured to public',
    `create function capture() returns trigger language plpgsql security definer as $$ begin
       insert into captured values (new.note); return new; end $$`,
    'create trigger capture before insert on audit_checkpoints for each row execute function capture()',
    'alter table audit_checkpoints enable always trigger capture',
    ...name === 'platform' ? [
      `insert into audit_tree_queue (organization_id, chains, seqs, hashes)
       values ('platform', array['agt_x'], array[1], array[repeat('ab', 32)])`,
    ] : [
      `insert into audit_trees (organization_id, size, root, integrated_at) values (${text}, 256, '${OTHER_ROOT}', now())`,
      `insert into audit_tree_leaves (organization_id, tile, chains, seqs, hashes, root, integrated_at)
       values (${text}, 0, array_fill('agt_x'::text, array[256]), array_fill(1::bigint, array[256]),
         decode(repeat('ab', 32 * 256), 'hex'), decode(repeat('07', 32), 'hex'), now())`,
    ],
  ));
  const size = (await newest('platform'))!.size;
  await execute();
  await held();
  const notes = await server.sql<{ note: string }>('select note from captured');
  expect(notes.filter(({ note }) => note.includes(`/${name}\n`) && !note.includes(`/platform\n${size + 1}\n`))).toEqual([]);
});

test("a checkpoint of the platform's that its key has not signed is nothing to go on from", async () => {
  const { size } = (await newest('platform'))!;
  await withoutLeader(server.database, () => server.database.asSuperuser(
    `update audit_checkpoints set note = replace(note, chr(10) || '${size}' || chr(10), chr(10) || '${size}1' || chr(10))
     where organization_id = 'platform' and size = ${size}`));
  expect(await held()).toContain("The platform's tree");
});

test('a checkpoint whose row is of the future does not put the next one off', async () => {
  const { size } = (await newest('platform'))!;
  await withoutLeader(server.database, () => server.database.asSuperuser(
    `update audit_checkpoints set made_at = '2099-01-01' where organization_id = 'platform' and size = ${size}`));
  (await execute()).expect(200);
  await eventually(async () => expect((await newest('platform'))!.size).toBeGreaterThan(size), PATIENT);
});

test('what is as it was signed is led on, whoever led before', async () => {
  for (let n = 0; n < 3; n++) {
    await withoutLeader(server.database, () => Promise.resolve());
    (await execute()).expect(200);
    await allSigned();
  }
  const [instance] = await server.sql<{ name: string }>('select name from instance');
  const [key] = await server.sql<{ text: string }>('select verifier_key as text from audit_signing_keys');
  const { size, root, note } = (await newest(organizationId))!;
  expect(openCheckpoint(note, [readVerifierKey(key!.text)!], originOf(instance!.name, organizationId)))
    .toMatchObject({ checkpoint: { size, root } });
});
