import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { ROOT_KEY } from '../../support/servers/test-run.js';
import { anAgent, type BuiltAgent } from '../../support/builders/agents.js';
import { countersign } from '../../support/servers/command-line.js';
import { verification } from '../../support/erasure/erasures.js';
import { allSigned, download, verifierKeyOf, verifyBytes, verifyFile } from '../../support/log/exports.js';
import { withoutLeader } from '../../support/log/leader.js';
import { anOrganization, aPerson, type BuiltPerson } from '../../support/builders/people.js';
import { rewriteHistory } from '../../support/log/rewritten-log.js';
import { startServer, type TestServer } from '../../support/servers/server.js';

// What somebody takes away who owns the database and not the signing key: an organization, or all that was signed of it.

let server: TestServer;
let key: string;
let organizationId: string;
let agent: BuiltAgent;
let folder: string;

beforeEach(async () => {
  server = await startServer({ env: { AUDIT_CHECKPOINT_SECONDS: '1' } });
  folder = mkdtempSync(join(tmpdir(), 'taken-'));
  organizationId = await anOrganization(server);
  for (const id of [await anOrganization(server), organizationId]) {
    agent = await anAgent(server).inOrganization(id).granted('web.search').create();
    (await agent.client.post('/api/v1/execute', { capability: 'web.search', input: { q: 'steel' } })).expect(200);
  }
  await allSigned(server);
  key = await verifierKeyOf(server);
});
afterEach(async () => {
  await server?.stop();
  if (folder) rmSync(folder, { recursive: true });
});

const verdictOf = async (...what: string[]) => {
  const environment = { DATABASE_URL: server.database.url, AUDIT_ANCHORS: '' };
  const { code, stdout } = await countersign(['audit', 'verify', '--json', ...what, '--verifier-key', key], environment);
  const { verdict, breaks } = JSON.parse(stdout) as { verdict: string; breaks: { chain: string; kind: string }[] };
  return [code, verdict, ...breaks.map(({ chain, kind }) => `${kind} ${chain}`)];
};
const byUrl = () => verdictOf('--url', server.url, '--key', ROOT_KEY, '--remember', join(folder, 'by-url.json'));
const exportOf = async (apiKey: string, query = {}) => (await download(server, apiKey, '/api/v1/audit/export', query)).bytes;

test('a whole organization is gone: a file of everything is found to be without it', async () => {
  const [file, memory] = [join(folder, 'all.jsonl'), join(folder, 'memory.json')];
  writeFileSync(file, await exportOf(ROOT_KEY));
  expect(await verifyFile(file, [key], ['--remember', memory])).toMatchObject({ exitCode: 0, covers: 'log', breaks: [] });
  expect((await byUrl())[0]).toBe(0);

  await allSigned(server);
  const tables = ['entries', 'heads', 'trees', 'tree_leaves', 'subjects', 'checkpoints'];
  await withoutLeader(server.database, async () => {
    await server.database.asSuperuser(...tables.map((one) => `delete from audit_${one} where organization_id = '${organizationId}'`));
    const gone = ['tree_mismatch platform', `checkpoint_invalid ${organizationId}`];
    writeFileSync(file, await exportOf(ROOT_KEY));
    const found = await verifyFile(file, [key], ['--remember', memory]);
    expect([found.exitCode, ...found.breaks.map(({ kind, chain }) => `${kind} ${chain}`)]).toEqual([1, ...gone]);
    expect(found.breaks[1]!.detail).toContain('is gone');
    expect(await byUrl()).toEqual([1, 'tampered', ...gone]);
    expect(await verdictOf('--database-url', server.database.url, '--remember', join(folder, 'by-url.json')))
      .toEqual(expect.arrayContaining([1, `truncated ${organizationId}`]));
    // Of another organization alone nothing is wrong.
    expect((await verifyBytes(await exportOf(ROOT_KEY, { organization_id: 'org_platform' }), [key])).breaks).toEqual([]);
  });
});

test('a history is rewritten, its checkpoints and its place in the map are taken away: who sees nothing else finds it too', async () => {
  const admin = await aPerson(server, 'owner', { organizationId });
  await allSigned(server);
  const looks = async () => [
    await verificationOf(admin), await verificationOf(admin, { agent_id: agent.id }), (await verification(server)).verdict,
    (await verdictOf('--no-remember', '--agent', agent.id))[1], (await verifyBytes(await exportOf(admin.key), [key])).verdict,
  ];
  const before = await looks();
  expect(before.filter((verdict) => verdict === 'tampered')).toEqual([]);
  await withoutLeader(server.database, async () => {
    await rewriteHistory(server.database, agent.id, 'system');
    await server.database.asSuperuser(`delete from audit_map_nodes where organization_id = '${organizationId}'`);
    expect(await looks()).toEqual(before.map(() => 'tampered'));
    // Nothing at all is left of it, but that it was signed.
    await server.database.asSuperuser(...['entries', 'heads', 'trees', 'tree_leaves', 'subjects'].map((one) =>
      `delete from audit_${one} where organization_id = '${organizationId}'`));
    expect(await verificationOf(admin)).toBe('tampered');
  });
});

async function verificationOf({ client }: BuiltPerson, query: Record<string, string> = {}): Promise<string> {
  await server.sql('delete from audit_verification_rate_limits');
  return (await client.get('/api/v1/audit/verify', { query })).expect(200).text('verdict');
}
