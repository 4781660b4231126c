import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { waiveCheckpoint, signRecovery } from '../../../src/domain/audit/notes/waived-checkpoint.js';
import { signingKey } from '../../../src/domain/audit/notes/note.js';
import { anonymous, as, asAgent, asRoot } from '../../support/http/actors.js';
import { anAgent, type BuiltAgent } from '../../support/builders/agents.js';
import { appendPast } from '../../support/log/append-past.js';
import { countersign } from '../../support/servers/command-line.js';
import { eventually } from '../../support/running/eventually.js';
import { saveState, type SavedState } from '../../support/running/saved-state.js';
import { startServer, type TestServer } from '../../support/servers/server.js';
import { pathOf, type Route, routesOf } from '../../support/routes/routes.js';
import { aPerson } from '../../support/builders/people.js';
import { asSession, type BuiltSession } from '../../support/builders/tenants.js';
import { TEST_ENVIRONMENT } from '../../support/servers/test-run.js';

const PATIENT = { every: 100 };
const SERVED = /^\/health|^\/api\/v1\/audit\/(keys|checkpoints)$/;

let server: TestServer;
let replica: TestServer;
let before: BuiltAgent;
let saved: SavedState;
let [setupToken, waiting, given] = ['', '', ''];
let session: BuiltSession;
let routes: readonly Route[];

interface Line {
  readonly size: number;
  readonly root: string;
  readonly recovered?: boolean;
}

/** What the folder has, oldest first. */
function anchored(): Line[] {
  const folder = server.database.anchors.slice('file:'.length);
  const [instance] = readdirSync(folder);
  const text = readdirSync(join(folder, instance!)).sort().map((file) => readFileSync(join(folder, instance!, file), 'utf8')).join('');
  return text.trimEnd().split('\n').map((line) => JSON.parse(line) as Line);
}

/** Resolves once everything that was committed stands at the anchor. */
async function allAnchored(): Promise<number> {
  return eventually(async () => {
    const [row] = await server.sql<{ size: string; left: string; open: string }>(`
      select (select max(size) from audit_checkpoints where organization_id = 'platform') as size,
        (select count(*) from audit_tree_queue) as left,
        (select count(*) from audit_trees t where size > (
           select coalesce(max(size), 0) from audit_checkpoints c where c.organization_id = t.organization_id)) as open`);
    expect([row!.left, row!.open]).toEqual(['0', '0']);
    expect(anchored().at(-1)!.size).toBe(Number(row!.size));
    return Number(row!.size);
  }, PATIENT);
}

async function held(at: TestServer): Promise<void> {
  await eventually(async () => {
    const { body } = (await anonymous(at).get('/health/ready')).expect(503, 'UNAVAILABLE');
    expect(body).toMatchObject({ detail: expect.stringMatching(/^(?!.*file:).*countersign recover --accept-loss/) });
  }, PATIENT);
}

/** For as long as a server takes to look again, several times over. */
async function stayHeld(...all: TestServer[]): Promise<void> {
  for (let look = 0; look < 8; look++) {
    await new Promise((resolve) => setTimeout(resolve, 500));
    for (const at of all) (await anonymous(at).get('/health/ready')).expect(503, 'UNAVAILABLE');
  }
}

async function refusesEverything(at: TestServer): Promise<void> {
  const refused = routes.filter(({ template }) => !SERVED.test(template));
  expect(refused.length).toBeGreaterThan(50);
  for (const { method, template } of refused) {
    const path = pathOf({ method, template } as Route);
    const response = await fetch(new URL(path, at.url), { method, headers: { authorization: 'Bearer nobody' } });
    expect([method, template, response.status]).toEqual([method, template, 503]);
    expect(await response.text()).toMatch(/countersign recover/);
  }
  for (const path of ['/health', '/health/live', '/api/v1/audit/keys', '/api/v1/audit/checkpoints']) {
    (await anonymous(at).get(path)).expect(200);
  }
}

/** Everything that a server could have changed. */
const written = async () =>
  (await server.sql<{ entries: string; rounds: string; outbox: string }>(`
    select (select count(*) from audit_entries) as entries, (select size from audit_trees where organization_id = 'platform') as rounds,
      (select string_agg(id || ' ' || attempts, ',' order by id) from outbox) as outbox`))[0];

beforeAll(async () => {
  server = await startServer({ env: { AUDIT_CHECKPOINT_SECONDS: '1' } });
  routes = await routesOf(server);
  before = await anAgent(server).granted('web.search').granted('email.send', { hitlMode: 'propose' }).create();
  setupToken = (await asRoot(server).post(`/api/v1/agents/${before.id}/setup-token`)).expect(201).text('setupToken');
  waiting = (await before.client.post('/api/v1/execute', { capability: 'email.send', input: { to: 'a@b.example' } }))
    .expect(202).text('hitlRequestId');
  const task = { toAgentId: before.id, task: { capability: 'web.search', input: {} } };
  given = (await asRoot(server).post('/api/v1/routing/delegate', task)).expect(201).text('task.id');
  const person = await aPerson(server, 'owner');
  session = await asSession(server, person);
  await server.sql(
    `insert into invitations (organization_id, id, email, email_folded, role, token_hash, delivery, invited_by, created_at, expires_at)
     values ($1, 'inv_of_before', 'a@b.example', 'a@b.example', 'owner', $2, 'hand', $3, now(), now() + interval '3 days')`,
    [person.organizationId, '0'.repeat(64), person.id],
  );
  await allAnchored();
  saved = await saveState(server.database);
  // The servers come back by themselves: this is the database that they knew.
  await eventually(async () => (await anonymous(server).get('/health/ready')).expect(200), PATIENT);
  replica = await startServer({ replicaOf: server, env: { AUDIT_CHECKPOINT_SECONDS: '1' } });
});
afterAll(async () => {
  await replica?.stop();
  await server?.stop();
  await saved?.drop();
});

test('anchors are told also where the database says that they have everything', async () => {
  await server.database.asSuperuser(
    `create function say_anchored() returns trigger language plpgsql as $$ begin
       update audit_anchors set size = new.size, root = new.root, note = new.note; return null; end $$`,
    `create trigger say_anchored after insert on audit_checkpoints for each row
       when (new.organization_id = 'platform') execute function say_anchored()`,
    'alter table audit_checkpoints enable always trigger say_anchored',
  );
  await anAgent(server).create();
  await allAnchored();
  // Nor does whoever takes the lead next believe it.
  await server.restart();
  await anAgent(server).create();
  await allAnchored();
  await server.database.asSuperuser('drop trigger say_anchored on audit_checkpoints', 'drop function say_anchored()');
});

describe('a database that is put back under its servers', () => {
  let lost: Line;

  test('is held by all of them, without a restart, and nothing of it changes', async () => {
    await anAgent(server).create();
    await allAnchored();
    lost = anchored().at(-1)!;
    await saved.putBack();
    await Promise.all([held(server), held(replica)]);
    await refusesEverything(server);
    await refusesEverything(replica);
    const then = await written();
    await new Promise((resolve) => setTimeout(resolve, 4_000));
    expect(await written()).toEqual(then);
  });

  test('is held by a server that is started on it', async () => {
    await replica.restart();
    await held(replica);
    await refusesEverything(replica);
    expect(anchored().at(-1)).toEqual(lost);
  });

  test('is not let off by whoever owns it and appends that somebody accepted the loss', async () => {
    const [{ name }] = (await server.sql<{ name: string }>('select name from instance')) as [{ name: string }];
    const key = signingKey(name, Buffer.alloc(32, 5).toString('base64'));
    const { size, root } = lost;
    for (const forged of [{ size, root, note: '' }, waiveCheckpoint({ size, root }, [key])]) {
      await appendPast(server.database, { type: 'admin.recovered', metadata: { lost: forged, lossAccepted: true } });
    }
    // Nor that it was recovered, nor is it another installation by another name: those that run have seen what it was.
    const at = new Date(Date.now() + 1_000);
    for (const note of ['', signRecovery(at, key)]) {
      await server.database.asSuperuser(`update instance set recovered_at = '${at.toISOString()}', recovered_note = '${note}'`);
      await stayHeld(server, replica);
    }
    await server.database.asSuperuser(`update instance set name = 'countersign-aaaaaaaaaaaa', recovered_at = clock_timestamp()`);
    await stayHeld(server, replica);
    await expect(replica.restart()).rejects.toThrow(/AUDIT_SIGNING_KEY: is not the one/);
    await server.database.asSuperuser(`update instance set name = '${name}', recovered_at = null, recovered_note = null`);
    await replica.restart();
    await Promise.all([held(server), held(replica)]);
  });

  test('shows by `recover` what would be lost, and changes nothing', async () => {
    const then = await written();
    const env = { ...TEST_ENVIRONMENT, DATABASE_URL: server.database.url, AUDIT_ANCHORS: server.database.anchors };
    const { code, stdout, stderr } = await countersign(['recover'], env);
    expect([code, stderr]).toEqual([1, '']);
    expect(stdout).toContain(`has a checkpoint of ${lost.size} rounds of the log`);
    expect(stdout).toContain('1 open request');
    expect(stdout).toContain('1 task that nobody had begun: would be cancelled');
    expect(stdout).toContain('1 session of people: would be ended\n  1 open invitation: would be voided');
    const json = JSON.parse((await countersign(['recover', '--json'], env)).stdout) as object;
    expect(json).toMatchObject({ recovered: false, anchors: [{ result: 'contradicts', size: lost.size }], open: { openRequests: 1 } });
    expect(await written()).toEqual(then);
  });

  test('is served again once its loss is accepted: what was open has ended, and no old credential holds', async () => {
    const env = { ...TEST_ENVIRONMENT, DATABASE_URL: server.database.url, AUDIT_ANCHORS: server.database.anchors };
    const { code, stdout, stderr } = await countersign(['recover', '--accept-loss'], env);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toContain('countersign key rotate');
    expect(stdout).toContain('1 session of people: was ended\n  1 open invitation: was voided');
    expect(stdout).toMatch(/^ {2}(?!1 )\d.*: were /m);
    expect(stdout).not.toMatch(/^ {2}(?!1 )\d.*: was /m);
    for (const at of [server, replica]) {
      await eventually(async () => (await anonymous(at).get('/health/ready')).expect(200), PATIENT);
      (await asRoot(at).get('/api/v1/agents')).expect(401, 'UNAUTHENTICATED');
      (await asAgent(at, before.token).post('/api/v1/execute', { capability: 'web.search', input: {} })).expect(401, 'UNAUTHENTICATED');
      (await anonymous(at).post('/api/v1/node/activate', { token: setupToken, nodeId: 'n' })).expect(401, 'UNAUTHENTICATED');
      (await anonymous(at).get('/api/v1/auth/me', { headers: { cookie: session.cookie } })).expect(401, 'UNAUTHENTICATED');
    }
    const rotated = await countersign(['key', 'rotate', '--json'], { DATABASE_URL: server.database.url });
    const root = as(server, (JSON.parse(rotated.stdout) as { rootKey: string }).rootKey);
    expect((await root.get(`/api/v1/hitl/${waiting}`)).at('status')).toBe('cancelled');
    expect((await root.get(`/api/v1/tasks/${given}`)).at('task')).toMatchObject({ status: 'cancelled', reason: 'recovered' });
    const ended = await Promise.all(['auth.logout', 'admin.invitation_ended'].map(async (event) =>
      (await root.get('/api/v1/audit', { query: { event } })).expect(200).list('entries')));
    expect(ended).toMatchObject([
      [{ actorId: 'system', metadata: { sessionId: session.id, reason: 'recovered' } }],
      [{ actorId: 'system', metadata: { invitationId: 'inv_of_before', change: 'voided' } }],
    ]);
    expect(await server.sql(`select 1 from invitations where voided_at is null`)).toEqual([]);
    const recovered = (await root.get('/api/v1/audit', { query: { event: 'admin.recovered' } })).expect(200);
    expect(recovered.list('entries')).toEqual(expect.arrayContaining([
      expect.objectContaining({ metadata: { lossAccepted: true, lost: { size: lost.size, root: lost.root, note: expect.any(String) } } }),
      expect.objectContaining({ metadata: expect.objectContaining({ lossAccepted: true, requests: 1, tasks: 1, agents: 1 }) as object }),
    ]));
    await eventually(() => expect(anchored().some((line) => line.recovered === true && line.size === lost.size)).toBe(true), PATIENT);
    await allAnchored();
    expect(anchored().at(-1)!.root).not.toBe(lost.root);
  });

  test('stays served when it is started again, and held when it is put back once more', async () => {
    await replica.restart();
    await eventually(async () => (await anonymous(replica).get('/health/ready')).expect(200), PATIENT);
    await saved.putBack();
    await Promise.all([held(server), held(replica)]);
  });
});

test('an old word of the key that it was recovered lets nobody off that was started since', async () => {
  const AUDIT_ANCHORS = 'witness:http://127.0.0.1:9/away'; // It contradicts nobody: what the server has seen has to hold it.
  const own = await startServer({ env: { AUDIT_ANCHORS, AUDIT_CHECKPOINT_SECONDS: '1' } });
  const newest = `select max(size)::integer as size from audit_checkpoints where organization_id = 'platform'`;
  const newestSize = async () => (await own.sql<{ size: number | null }>(newest))[0]!.size;
  let older: SavedState | undefined;
  try {
    const env = { ...TEST_ENVIRONMENT, DATABASE_URL: own.database.url, AUDIT_ANCHORS };
    const recover = () => countersign(['recover', '--accept-loss'], env);
    expect(await recover()).toMatchObject({ code: 1, stderr: expect.stringContaining('servers serve this database') });
    await own.kill();
    expect(await recover()).toMatchObject({ code: 0 });
    const [word] = await own.sql<{ at: string; note: string }>('select recovered_at::text as at, recovered_note as note from instance');
    await own.database.asSuperuser('update instance set recovered_at = null, recovered_note = null');
    await pause(2_500); // The word is older than the start by more than clocks may differ.
    await own.restart();
    const size = await eventually(async () => {
      const seen = await newestSize();
      expect(seen).toBeGreaterThan(0);
      return seen!;
    }, PATIENT);
    older = await saveState(own.database);
    await eventually(async () => (await anonymous(own).get('/health/ready')).expect(200), PATIENT);
    await countersign(['key', 'rotate'], { DATABASE_URL: own.database.url });
    await eventually(async () => expect(await newestSize()).toBeGreaterThan(size), PATIENT);
    await pause(2_500); // A server looks every second: by then it has seen the newest.
    await older.putBack();
    await held(own);
    await own.database.asSuperuser(`update instance set recovered_at = '${word!.at}', recovered_note = '${word!.note}'`);
    await stayHeld(own);
  } finally {
    await older?.drop();
    await own.stop();
  }
});

test('a database that was emptied is held by what the same key has signed for another name, until that is given up', async () => {
  const emptied = await startServer({ database: 'empty', env: { AUDIT_ANCHORS: server.database.anchors } });
  try {
    await held(emptied);
    const env = { ...TEST_ENVIRONMENT, DATABASE_URL: emptied.database.url, AUDIT_ANCHORS: server.database.anchors };
    expect(await countersign(['recover', '--accept-loss'], env)).toMatchObject({ code: 0 });
    await eventually(async () => (await anonymous(emptied).get('/health/ready')).expect(200), PATIENT);
    const [{ name }] = (await emptied.sql<{ name: string }>('select name from instance')) as [{ name: string }];
    const folder = server.database.anchors.slice('file:'.length);
    await eventually(() => expect(readdirSync(folder)).toContain(name), PATIENT);
    await emptied.restart();
    await eventually(async () => (await anonymous(emptied).get('/health/ready')).expect(200), PATIENT);
  } finally {
    await emptied.stop();
  }
  const own = await startServer({ database: 'empty', env: {
    AUDIT_ANCHORS: server.database.anchors, AUDIT_SIGNING_KEY: randomBytes(32).toString('base64'),
  } });
  try {
    await eventually(async () => (await anonymous(own).get('/health/ready')).expect(200), PATIENT);
  } finally {
    await own.stop();
  }
});
