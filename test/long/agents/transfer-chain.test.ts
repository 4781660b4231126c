import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { asRoot, type Client } from '../../support/http/actors.js';
import { eventsOf } from '../../support/log/entries.js';
import { anAgent, type BuiltAgent } from '../../support/builders/agents.js';
import { withoutLeader } from '../../support/log/leader.js';
import { anOrganization, aPerson, firstOrganization } from '../../support/builders/people.js';
import { startServer, type TestServer } from '../../support/servers/server.js';
import { CHECKOUT } from '../../support/servers/test-run.js';
import { headOf, linksOf, transferred, welcomed } from '../../support/builders/transfers.js';

let server: TestServer;
let root: Client;
let home: string;
let abroad: string;

beforeAll(async () => {
  server = await startServer();
  root = asRoot(server);
  home = await firstOrganization(server);
});
afterAll(() => server.stop());
beforeEach(async () => {
  abroad = await anOrganization(server);
});

interface Verdict {
  readonly code: number;
  readonly valid: boolean;
  readonly breaks: readonly { readonly chain: string; readonly kind: string; readonly position: number }[];
}

/** As the command line says it, of everything or of one agent. */
function verified(...args: string[]): Promise<Verdict> {
  const command = [join(CHECKOUT, 'bin/countersign.mjs'), 'audit', 'verify', '--database-url', server.database.url, '--json', ...args];
  return new Promise((resolve, reject) => {
    execFile(process.execPath, command, { cwd: CHECKOUT }, (error, stdout) => {
      const code = typeof error?.code === 'number' ? error.code : 0;
      if (stdout === '') reject(new Error(`nothing was printed, exit code ${code}`));
      else resolve({ ...(JSON.parse(stdout) as Verdict), code });
    });
  });
}

test('an agent\'s chain goes on without a gap: out ends it here, in continues it there, and neither names the other', async () => {
  const agent = await anAgent(server).granted('web.search').create();
  (await root.post(`/api/v1/agents/${agent.id}/transfer`, { organizationId: abroad, reason: 'the press moved' })).expect(200);
  const links = await linksOf(server, agent.id);
  expect(links.map(({ seq }) => seq)).toEqual(links.map((_, i) => i + 1));
  links.forEach((link, i) => expect(link.prev_hash).toBe(links[i - 1]?.hash ?? null));
  const [out, into] = links.slice(-2);
  expect(out).toMatchObject({ event: 'agent.transferred', organization_id: home, metadata: { direction: 'out' } });
  expect(into).toMatchObject({
    event: 'agent.transferred', organization_id: abroad, metadata: { direction: 'in', fromSeq: out!.seq, fromHash: out!.hash },
  });
  const stored = await server.sql<{ organization_id: string; text: string }>(
    `select organization_id, payload || disclosures as text from audit_entries
     where chain = $1 and event = 'agent.transferred' order by seq`,
    [agent.id]);
  expect(stored[0]!.text).not.toContain(abroad);
  expect(stored[1]!.text).not.toContain(home);
  for (const { text } of stored) expect(text).toContain('the press moved');
  expect(await headOf(server, home, agent)).toMatchObject({ seq: out!.seq, hash: out!.hash, closed: true });
  expect(await headOf(server, abroad, agent)).toMatchObject({ seq: into!.seq, hash: into!.hash, closed: false });
});

test('an agent goes back and forth twice, working at each place: valid for both, for the agent and for all', async () => {
  const agent = await anAgent(server).granted('web.search').create();
  const revisions: Record<string, number[]> = { [home]: [], [abroad]: [] };
  for (const target of [abroad, home, abroad, home]) {
    (await transferred(server, agent, target)).expect(200);
    (await (await welcomed(server, agent)).post('/api/v1/execute', { capability: 'web.search' })).expect(200);
    for (const place of [home, abroad]) revisions[place]!.push((await headOf(server, place, agent)).revision);
  }
  for (const seen of Object.values(revisions)) expect(seen).toEqual([...seen].sort((a, b) => a - b));
  expect((await eventsOf(server, agent.id)).filter((event) => event === 'agent.transferred')).toHaveLength(8);
  for (const organizationId of [home, abroad]) {
    // Once a minute for each credential.
    for (const target of ['/api/v1/audit/verify', `/api/v1/audit/verify?agent_id=${agent.id}`]) {
      const { client } = await aPerson(server, 'admin', { organizationId });
      const verdict = (await client.get(target)).expect(200);
      expect([verdict.at('valid'), verdict.at('breaks')]).toEqual([true, []]);
    }
  }
  expect((await root.get('/api/v1/audit/verify')).expect(200).at('valid')).toBe(true);
  expect(await verified()).toMatchObject({ code: 0, valid: true, breaks: [] });
  expect(await verified('--agent', agent.id)).toMatchObject({ code: 0, valid: true, breaks: [] });
});

test.each<[string, string, (agent: BuiltAgent) => readonly string[]]>([
  ['the entry of its arrival names another hash', 'edited', ({ id }) => [
    `update audit_entries set payload = replace(payload, '"fromHash":"', '"fromHash":"0') where chain = '${id}' and organization_id = '$'`,
  ]],
  ['its whole segment there is cut off', 'truncated', ({ id }) => ['audit_entries', 'audit_heads'].map((table) =>
    `delete from ${table} where chain = '${id}' and organization_id = '$'`)
    .concat(`delete from audit_tree_queue where organization_id = '$' and '${id}' = any (chains)`)],
  ['the entry of its arrival is gone', 'deleted', ({ id }) => [
    `delete from audit_entries where chain = '${id}' and organization_id = '$' and event = 'agent.transferred'`,
  ]],
])('a chain is found broken when %s (%s)', async (_, kind, changes) => {
  const agent = await anAgent(server).create();
  (await transferred(server, agent, abroad)).expect(200);
  await welcomed(server, agent);
  expect(await verified()).toMatchObject({ valid: true });
  const tables = ['audit_entries', 'audit_heads', 'audit_tree_queue'];
  await withoutLeader(server.database, async () => {
    for (const table of tables) {
      await server.sql(`create table kept_${table} as select * from ${table} where organization_id = $1`, [abroad]);
    }
    try {
      await server.database.asSuperuser(...changes(agent).map((change) => change.replaceAll(`'$'`, `'${abroad}'`)));
      const verdict = await verified();
      expect(verdict).toMatchObject({ valid: false, code: 1 });
      expect(verdict.breaks.map((one) => one.kind)).toContain(kind);
      expect(new Set(verdict.breaks.map((one) => one.chain))).toEqual(new Set([agent.id]));
    } finally {
      await server.database.asSuperuser(...tables.flatMap((table) => [
        `delete from ${table} where organization_id = '${abroad}'`,
        `insert into ${table} overriding system value select * from kept_${table}`,
      ]));
      await server.sql(`drop table ${tables.map((table) => `kept_${table}`).join(', ')}`);
    }
  });
  expect(await verified()).toMatchObject({ valid: true });
});
