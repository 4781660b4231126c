import { randomBytes } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { organizationChain } from '../../../src/domain/audit/entry/chain.js';
import type { PreparedEntry } from '../../../src/domain/audit/entry/prepare-entry.js';
import { signingKey, signNote } from '../../../src/domain/audit/notes/note.js';
import { authorizationText, statementIn } from '../../../src/domain/audit/notes/authorization-note.js';
import { newId } from '../../../src/domain/ids.js';
import { rotateSigningKey } from '../../../src/modules/audit/keys/rotate-signing-key.js';
import { appendEntriesPast } from '../../support/log/append-past.js';
import { anAgent, type BuiltAgent } from '../../support/builders/agents.js';
import { countersign } from '../../support/servers/command-line.js';
import { verification } from '../../support/erasure/erasures.js';
import { allSigned, download, verifierKeyOf, verifyBytes } from '../../support/log/exports.js';
import { anOrganization, aPerson } from '../../support/builders/people.js';
import { aged, archiveFolder, sweepOutcomes, swept } from '../../support/retention/retention.js';
import { startServer, type TestServer } from '../../support/servers/server.js';
import { stamped } from '../../support/tampering/every-event.js';
import { Random } from '../../support/tampering/random.js';
import { ROOT_KEY, runFolder, TEST_ENVIRONMENT } from '../../support/servers/test-run.js';
import { verifiedLog } from '../../support/log/verified-log.js';

// Whoever owns the database, and has not the signing key, makes the log say that old entries were swept; and the server goes on with it.

const PRESENT = TEST_ENVIRONMENT['AUDIT_SIGNING_KEY']!;

let server: TestServer;
let archive: string;

beforeAll(async () => {
  server = await startServer({ env: { AUDIT_CHECKPOINT_SECONDS: '1' } });
  archive = await archiveFolder();
});
afterAll(() => server.stop());

interface Scene {
  readonly organizationId: string;
  readonly agent: BuiltAgent;
}

async function works({ client }: Pick<BuiltAgent, 'client'>, times = 3): Promise<void> {
  for (let i = 0; i < times; i++) {
    (await client.post('/api/v1/execute', { capability: 'web.search', input: { q: `steel ${i}` } })).expect(200);
  }
}

/** An organization with some entries, all of them signed. */
async function aScene(): Promise<Scene> {
  const organizationId = await anOrganization(server);
  const agent = await anAgent(server).inOrganization(organizationId).granted('web.search').create();
  await works(agent);
  await allSigned(server);
  return { organizationId, agent };
}

interface Cut {
  readonly chain: string; readonly seq: number; readonly hash: string; readonly count: number; readonly sweepEntryId: string;
}
interface Forged {
  readonly cut: Cut;
  readonly entry: PreparedEntry;
}

/** The first entries of the agent's chain are gone, and a sweep did it: an entry says so, as the real one would, and a row. */
async function forged({ organizationId, agent }: Scene, seq: number, noteOf: (entry: PreparedEntry) => Promise<string | undefined>,
  state = 'done', areDeleted = true): Promise<Forged> {
  const [below] = await server.sql<{ size: number; root: string; platformSize: number; platformRoot: string }>(
    `select c.size::integer, c.root, c.platform_size::integer as "platformSize", p.root as "platformRoot" from audit_checkpoints c
     join audit_checkpoints p on p.organization_id = 'platform' and p.size = c.platform_size
     where c.organization_id = $1 order by c.size desc limit 1`, [organizationId]);
  const [{ hash }] = (await server.sql<{ hash: string }>('select hash from audit_entries where chain = $1 and seq = $2',
    [agent.id, seq])) as [{ hash: string }];
  const cut = { chain: agent.id, seq, hash, count: seq };
  const entry = stamped(organizationChain(organizationId), {
    type: 'admin.audit_retention_sweep',
    metadata: {
      sweepId: 'swp_forged', before: new Date(Date.now() + 60_000).toISOString(), chains: [cut], checkpoint: below,
      archive: { skeleton: '0'.repeat(64), disclosures: '1'.repeat(64) },
    },
  }, new Random('forged'));
  const note = await noteOf(entry);
  await appendEntriesPast(server.database, entry);
  const reported = { ...cut, sweepEntryId: entry.id };
  await server.sql(
    `insert into audit_sweeps (organization_id, id, state, before, cuts, checkpoint, entry_id, notes, skeleton, disclosures, made_at)
     values ($1, 'swp_' || $2, $3, now(), $4, $5, $2, $6, $7, $7, now())`,
    [organizationId, entry.id, state, JSON.stringify([reported]), JSON.stringify(below),
      JSON.stringify(note === undefined ? {} : { [entry.id]: note }), '0'.repeat(64)]);
  if (areDeleted) await server.database.asSuperuser(`delete from audit_entries where chain = '${agent.id}' and seq <= ${seq}`);
  await allSigned(server);
  return { cut: reported, entry };
}

const instance = async () => (await server.sql<{ name: string }>('select name from instance'))[0]!.name;
const signedBy = (seed: string) => async (entry: PreparedEntry) =>
  signNote(authorizationText('sweep', await instance(), entry.organizationId, statementIn(entry)), [signingKey(await instance(), seed)]);
const fromRealSweep = async () => {
  const notes = await server.sql<{ note: string }>(
    'select n.value as note from audit_sweeps s cross join lateral json_each_text(s.notes) n limit 1');
  return notes[0]!.note;
};

const file = async (organizationId: string, keys: readonly string[] = []) =>
  verifyBytes((await download(server, ROOT_KEY, `/api/v1/audit/export?organization_id=${organizationId}`)).bytes, keys);
const command = async (...words: string[]) => {
  const { code, stdout, stderr } = await countersign(['audit', 'verify', '--json', '--database-url', server.database.url, ...words]);
  if (stdout === '') throw new Error(stderr);
  return { code, ...(JSON.parse(stdout) as { breaks: { kind: string; chain: string; detail: string }[]; verdict: string }) };
};

const none = () => Promise.resolve(undefined);
const foreign = signedBy(randomBytes(32).toString('base64'));

const left = ({ agent }: Scene) => server.sql('select id from audit_entries where chain = $1', [agent.id]);
/** What hindered the sweep of an organization; of others nothing is asked. */
async function hindered({ organizationId }: Scene, env: Record<string, string> = {}): Promise<string | undefined> {
  const outcome = (await sweepOutcomes(server.database, archive, undefined, env)).find((one) => one.organizationId === organizationId);
  return outcome && 'failed' in outcome ? outcome.failed.message : undefined;
}

test('a sweep that nobody ordered is found by server, command and file; signed by the server, the same is one', async () => {
  const remembered = join(runFolder(), `forged-sweeps-${process.pid}.json`);
  await aScene();
  await aged(server.database);
  await swept(server.database, archive);
  const scenes = [await aScene(), await aScene(), await aScene(), await aScene()] as const;
  expect(await command('--remember', remembered)).toMatchObject({ code: 0, verdict: 'valid', breaks: [] });

  const real = await forged(scenes[3], 3, signedBy(PRESENT));
  expect(await command('--remember', remembered)).toMatchObject({ code: 0, breaks: [] });
  expect(await verification(server)).toMatchObject({ breaks: [] });
  expect(await file(scenes[3].organizationId)).toMatchObject({ verdict: expect.stringMatching(/^valid/), breaks: [] });

  const cuts: Cut[] = [];
  for (const [n, noteOf] of [none, foreign, fromRealSweep].entries()) cuts.push((await forged(scenes[n]!, 3, noteOf)).cut);
  const found = cuts.map(({ chain }) => expect.objectContaining({ kind: 'deleted', chain, detail: expect.stringMatching(/signed/) }));
  for (const words of [['--no-remember'], ['--remember', remembered]]) {
    const reported = await command(...words);
    expect(reported).toMatchObject({ code: 1, verdict: 'tampered', breaks: expect.arrayContaining(found) });
    expect(reported.breaks).not.toContainEqual(expect.objectContaining({ chain: real.cut.chain }));
  }
  expect((await verification(server)).breaks).toEqual(expect.arrayContaining(found));
  for (const [n, { organizationId }] of scenes.slice(0, 3).entries()) {
    for (const keys of [[], [await verifierKeyOf(server)]]) {
      expect(await file(organizationId, keys)).toMatchObject({ verdict: 'tampered', breaks: expect.arrayContaining([found[n]]) });
    }
  }
});

test('an entry of a sweep that nobody has signed excuses nothing: not a row of an agent that there never was, not a report', async () => {
  const { organizationId, agent } = await aScene();
  const admin = await aPerson(server, 'owner', { organizationId });
  const id = (await agent.client.post('/api/v1/execute', { capability: 'web.search', input: {} })).expect(200).text('executionId');
  (await agent.client.post(`/api/v1/executions/${id}/report`, { outcome: 'failure', output: { sum: 7 } })).expect(200);
  const ghost = `agt_${'0'.repeat(36)}`;
  const entry = stamped(organizationChain(organizationId), {
    type: 'admin.audit_retention_sweep',
    metadata: {
      sweepId: 'swp_none', before: new Date().toISOString(), chains: [{ chain: ghost, seq: 1, hash: '0'.repeat(64), count: 1 }],
      checkpoint: { size: 1, root: '0', platformSize: 1, platformRoot: '0' },
      archive: { skeleton: '0'.repeat(64), disclosures: '1'.repeat(64) },
    },
  }, new Random('none'));
  await appendEntriesPast(server.database, entry);
  await allSigned(server);
  const of = async () =>
    (await verifiedLog(server.database.url)).breaks.filter(({ kind }) => kind === 'incomplete').map(({ detail }) => detail);
  const before = await of();
  await server.sql(`update executions set report = jsonb_set(report::jsonb, '{outcome}', '"success"')::json where id = $1`, [id]);
  const unheard = newId('exec');
  await server.database.asSuperuser(
    `insert into agents select (jsonb_populate_record(null::agents, to_jsonb(a) || '{"id": "${ghost}"}')).* from agents a
     where id = '${agent.id}'`,
    `insert into executions select (jsonb_populate_record(null::executions, to_jsonb(e) ||
       '{"id": "${unheard}", "agent_id": "${ghost}", "report": null}')).* from executions e where id = '${id}'`);
  expect((await admin.client.get(`/api/v1/executions/${unheard}`)).expect(200).text('execution.status')).toBe('executed');
  expect((await of()).filter((one) => !before.includes(one)).sort()).toEqual([
    `execution ${unheard} has status executed, and no entry records it`,
    expect.stringMatching(new RegExp(`^the report on execution ${id} has `)),
  ]);
});

describe('the server', () => {
  test('does not go on from a cut that none of its sweeps has made, and signs nothing of it', async () => {
    const scene = await aScene();
    await forged(scene, 3, none);
    await works(scene.agent, 1);
    await aged(server.database);
    const before = await left(scene);
    expect(await hindered(scene)).toMatch(/no entry of a sweep that this server's key has signed says so/);
    expect(await left(scene)).toEqual(before);
  });

  test('carries out no sweep that it has not recorded', async () => {
    const scene = await aScene();
    const [recorded, verified] = [await forged(scene, 3, none, 'recorded', false), await aScene()];
    const { entry } = await forged(verified, 3, none, 'verified', false);
    const before = [await left(scene), await left(verified)];
    // As if it had been archived.
    await mkdir(join(archive, scene.organizationId, `swp_${recorded.entry.id}`), { recursive: true });
    await writeFile(join(archive, scene.organizationId, `swp_${recorded.entry.id}`, 'skeleton.jsonl.gz'), gzipSync(''));
    expect(await hindered(scene)).toMatch(/no entry of a sweep that this server's key has signed says so/);
    expect(await server.sql('select id from audit_sweeps where id = $1', [`swp_${entry.id}`])).toEqual([]);
    expect([await left(scene), await left(verified)]).toEqual(before);
  });

  test('takes no age from rows: neither the time of a checkpoint, nor which leaf was made with it', async () => {
    const [first, second] = [await aScene(), await aScene()];
    await aged(server.database);
    const ofFirst = 'organization_id = $1';
    // What was done after that moment is young. It is said to be old.
    await works(first.agent, 1);
    await works(second.agent, 1);
    await allSigned(server);
    await server.sql(`update audit_checkpoints set made_at = made_at - interval '400 days' where ${ofFirst}`, [first.organizationId]);
    expect(await hindered(first)).toMatch(/nothing was swept/);
    const [reported] = await server.sql<{ size: string; at: Date }>(
      `select platform_size as size, made_at as at from audit_checkpoints where organization_id = $1 order by size limit 1`,
      [second.organizationId]);
    await server.sql('update audit_checkpoints set platform_size = $2, made_at = $3 where organization_id = $1',
      [second.organizationId, reported!.size, reported!.at]);
    const events = () => server.sql<{ event: string }>('select event from audit_entries where chain = $1 order by seq', [second.agent.id]);
    const young = (await events()).slice(-2);
    expect(young).toHaveLength(2);
    expect(await hindered(second)).toBeUndefined();
    expect(await events()).toEqual(young);
    const isRow = expect.objectContaining({ kind: 'column_mismatch', chain: first.organizationId });
    expect((await command('--no-remember')).breaks).toContainEqual(isRow);
  });
});

test('a rotation has the new key sign what is in force; the old one signs no sweep any more', async () => {
  const own = await startServer({ env: { AUDIT_CHECKPOINT_SECONDS: '1' } });
  const before = server;
  server = own;
  try {
    const [scene, later] = [await aScene(), await aScene()];
    const { organizationId, agent } = scene;
    await aged(server.database);
    expect(await hindered(scene)).toBeUndefined();
    await works(agent, 1);
    await allSigned(server);
    const next = randomBytes(32).toString('base64');
    const { verifierKey } = await rotateSigningKey(server.database.url, { present: PRESENT, next });
    await server.restart({ AUDIT_SIGNING_KEY: next });
    await works(agent, 1);
    await aged(server.database);
    const sound = async () => {
      expect(await command('--no-remember')).toMatchObject({ code: 0, breaks: [] });
      expect(await file(organizationId, [verifierKey])).toMatchObject({ verdict: 'valid', breaks: [] });
      expect(await verifyBytes((await download(server, ROOT_KEY, '/api/v1/audit/export')).bytes)).toMatchObject({ breaks: [] });
    };
    await sound();
    expect(await hindered(scene, { AUDIT_SIGNING_KEY: PRESENT })).toMatch(/signed by no key that is known|not the key that signs now/);
    expect(await hindered(scene, { AUDIT_SIGNING_KEY: next })).toBeUndefined();
    await works(agent, 1);
    await allSigned(server);
    await sound();
    await works(later.agent, 1);
    await allSigned(server);
    const [{ seq }] = (await server.sql<{ seq: number }>('select min(seq)::integer as seq from audit_entries where chain = $1',
      [later.agent.id])) as [{ seq: number }];
    const { cut } = await forged(later, seq, signedBy(PRESENT));
    expect((await command('--no-remember')).breaks).toContainEqual(expect.objectContaining({ kind: 'deleted', chain: cut.chain }));
    expect(await file(later.organizationId, [verifierKey])).toMatchObject({ verdict: 'tampered' });
  } finally {
    server = before;
    await own.stop();
  }
});
