import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type * as Verifier from '../../../verifier/verify.mjs';
import { asRoot } from '../../support/http/actors.js';
import { anAgent, type BuiltAgent } from '../../support/builders/agents.js';
import { countersign } from '../../support/servers/command-line.js';
import { allSigned, type Downloaded, download, verifierKeyOf } from '../../support/log/exports.js';
import { aPerson, anOrganization, type BuiltPerson } from '../../support/builders/people.js';
import { startServer, type TestServer } from '../../support/servers/server.js';
import { CHECKOUT, ROOT_KEY } from '../../support/servers/test-run.js';

// Whoever owns the database can put anything into a cell. Whatever it is, each export comes to its end and is signed, so that what was
// done can be found without this server; and no route fails on it.

const { linesOf, verify } = (await import(pathToFileURL(join(CHECKOUT, 'verifier', 'verify.mjs')).href)) as typeof Verifier;

let server: TestServer;
let organizationId: string;
let agent: BuiltAgent;
let admin: BuiltPerson;
let key: string;
/** The entry that is tampered with. It stands in a full tile of its tree. */
let entry: { id: string; hash: string };

beforeAll(async () => {
  server = await startServer({ env: { AUDIT_CHECKPOINT_SECONDS: '1' } });
  organizationId = await anOrganization(server);
  admin = await aPerson(server, 'admin', { organizationId });
  agent = await anAgent(server).inOrganization(organizationId).granted('web.search').granted('email.send', { hitlMode: 'propose' })
    .create();
  const call = (capability: string) => agent.client.post('/api/v1/execute', { capability, input: {} });
  const request = (await call('email.send')).expect(202).text('hitlRequestId');
  (await admin.client.post(`/api/v1/hitl/${request}/approve`, { note: 'fine' }, { query: { wait: 5 } })).expect(200);
  for (let n = 0; n < 140; n++) (await call('web.search')).expect(200);
  await allSigned(server);
  key = await verifierKeyOf(server);
  // Else no second entry could be without one before it.
  await server.database.asSuperuser('drop index audit_entries_no_fork');
  [entry] = await server.sql<typeof entry>(`select id, hash from audit_entries where event = 'hitl.approved'`) as [typeof entry];
});

afterAll(() => server.stop());

const whole = ({ status, bytes }: Downloaded, format: string) => {
  const end = format === 'csv' ? /\r\n#manifest [\w-]+\r\n$/ : format === 'json' ? /\n\{[^\n]+"kind":"manifest"[^\n]+\n\]\}\n$/ :
    /\n\{[^\n]+"kind":"manifest"[^\n]+\n$/;
  expect([status, end.test(bytes.toString())]).toEqual([200, true]);
  return bytes;
};

const LOG = '/api/v1/audit/export';
/** Each way to have the log, or a part of it, or what is somebody's. */
const files = () => [
  { name: 'jsonl', query: {} }, { name: 'json', query: { format: 'json' } }, { name: 'csv', query: { format: 'csv' } },
  { name: 'agent', query: { agent_id: agent.id } }, { name: 'from', query: { from: '2020-01-01' } },
  { name: 'to', query: { to: '9999-01-01' } },
  { name: 'person', path: `/api/v1/audit/${admin.id}/export`, query: { format: 'jsonl' } },
  { name: 'person, csv', path: `/api/v1/audit/${admin.id}/export`, query: { format: 'csv' } },
] as const;

/** Those that the verifier reads: each takes it some hundred milliseconds, so of most cases only the first and another in turn. */
const READ = ['jsonl', 'json', 'agent', 'from', 'to', 'person'] as const;
const inTurn = (turn: number): readonly string[] => ['jsonl', READ[1 + (turn % (READ.length - 1))]!];

/** Takes every file; all of them are whole. @returns what the verifier says of these, by name */
async function judged(read: readonly string[]): Promise<Record<string, string>> {
  const said: Record<string, string> = {};
  for (const { name, query, ...of } of files()) {
    const path = 'path' in of ? of.path : LOG;
    const format = 'format' in query ? query.format : 'jsonl';
    const part = path === LOG ? { organization_id: organizationId, ...query } : query;
    const bytes = whole(await download(server, ROOT_KEY, path, part), format);
    if (!read.includes(name)) continue;
    const { breaks } = await verify(linesOf([bytes]), { keys: [key] });
    said[name] = breaks.map(({ kind, detail }) => `${kind}: ${detail}`).join('\n');
  }
  return said;
}

/** Every page of these lists is there, and a proof is refused as it is while there is none. */
async function asked(): Promise<void> {
  for (const path of ['', `?agent_id=${agent.id}`, `?user_id=${admin.id}`, `?organization_id=${organizationId}&limit=100`]) {
    const list = `/api/v1/audit${path}`;
    let next: string | undefined = list;
    while (next !== undefined) {
      const page: { nextCursor?: string } = (await asRoot(server).get<{ nextCursor?: string }>(next)).expect(200).body;
      next = page.nextCursor && `${list}${path === '' ? '?' : '&'}cursor=${page.nextCursor}`;
    }
  }
  const proof = await asRoot(server).get<{ code?: string }>(`/api/v1/audit/${entry.id}/proof`);
  expect([undefined, 'CONFLICT', 'NOT_FOUND']).toContain(proof.body.code);
}

/** Changes one cell past every trigger, and puts back what was there. */
async function changed(table: string, column: string, value: string, where: string, work: () => Promise<void>): Promise<void> {
  const done = (...changes: string[]) => server.database.asSuperuser('set session_replication_role = replica', ...changes);
  const keys: Record<string, string> = {
    audit_entries: column === 'hash' ? 'id' : 'hash', audit_heads: 'chain', audit_checkpoints: 'note', audit_subjects: 'entry_id',
  };
  const by = keys[table] ?? 'id';
  await done('drop table if exists kept', `create table kept as select * from ${table} where ${where}`,
    ...(value === 'null' ? [`alter table ${table} alter column "${column}" drop not null`] : []),
    `update ${table} set "${column}" = ${value} where ${where}`);
  try {
    await work();
  } finally {
    await done(`update ${table} t set "${column}" = kept."${column}" from kept where t.${by} = kept.${by}`, 'drop table kept');
  }
}

const NO_LEAF = /tree_mismatch: .* leaves 5 to 5, which the file does not hold/;
const disclosed = (value: string) => `'[{"d":"x","pointer":"/metadata/comment","salt":"AAAAAAAAAAAAAAAAAAAAAA","value":${value}}]'`;
/** Column, values, and how what is wrong is told of the whole log. */
const ODD: readonly (readonly [string, readonly string[], RegExp])[] = [
  ['seq', ['9223372036854775807', '-9223372036854775808', '9007199254740993', '-1', '0', '4711'], NO_LEAF],
  ['timestamp', [`'9999-99-99T99:99:99.999Z'`, `repeat('x', 24)`, `'0000-00-00T00:00:00.000Z'`, 'null'],
    /timestamp is not what was hashed/],
  ['chain', [`'__proto__'`, `''`, `'sys_' || chr(8232)`], NO_LEAF],
  ['id', [`'__proto__'`, `''`, 'null'], /id is not what was hashed/],
  ['event', [`'gdpr.erasure_executed'`, `'admin.audit_retention_sweep'`, 'null'], /event is not what was hashed/],
  ['hash', [`'x'`, 'null'], /edited: entry 6 .* its hash no longer fits its content/],
  ['prev_hash', [`'x'`, 'null'], /entry 6/],
  ['disclosures', [
    disclosed(String.raw`"\"\\ud800\""`), disclosed(String.raw`"\ud800"`), disclosed('"1e999"'), disclosed('1e999'), disclosed('{}'),
    `'[null]'`, 'null',
  ], /edited: entry 6 .* (answers to no commitment|is malformed|not in their stored form)/],
  ['payload', [String.raw`'{"metadata":{"a":"\ud800"},"origin":{"\ud800":1}}'`, `'{"metadata":{"a":1e999}}'`, `'x'`, 'null'],
    /edited: entry 6 .* its hash no longer fits/],
];

test('nothing is wrong before', async () => {
  for (const said of Object.values(await judged(READ))) expect(said).toBe('');
  await asked();
});

describe('an entry', () => {
  const cases = ODD.flatMap(([column, values, wanted]) => values.map((value) => [column, value, wanted] as const));
  test.each(cases.map((one, turn) => [...one, turn] as const))(
    '%s = %s is in every file as far as it can be, and named', async (column, value, wanted, turn) => {
      await changed('audit_entries', column, value, `id = '${entry.id}'`, async () => {
        // Of a person's own file much is withheld anyway: that it is whole is all that is asked of it.
        const { person: _, ...said } = await judged(inTurn(turn));
        for (const [name, found] of Object.entries(said)) expect(`${name} ${found}`).toMatch(wanted);
        await asked();
      });
    });

  test('at the last position there is: the command names it, from a server and from a file', async () => {
    await changed('audit_entries', 'seq', '9223372036854775807', `id = '${entry.id}'`, async () => {
      const { code, stdout } = await countersign(['audit', 'verify', '--no-remember', '--url', server.url, '--key', ROOT_KEY]);
      expect([code, stdout]).toEqual([1, expect.stringMatching(/tampered/i)]);
    });
  });
});

describe('what stands beside entries', () => {
  test.each([
    ['whom it is about, at no position', 'audit_subjects', 'seq', '9223372036854775807', () => `entry_id = '${entry.id}'`, /^$/],
    ['where its chain ends', 'audit_heads', 'seq', '9223372036854775807', () => `chain = '${agent.id}'`, /edited: .*cannot be read/],
    ['where its chain ends, by no hash', 'audit_heads', 'hash', 'null', () => `chain = '${agent.id}'`, /chain agt_/],
    ...['9223372036854775807', '9007199254740993', '100000'].map((size) =>
      ['a checkpoint of a size that no tree has', 'audit_checkpoints', 'size', size, () => `(organization_id, size) =
        (select organization_id, max(size) from audit_checkpoints where organization_id = '${organizationId}' group by 1)`,
      /checkpoint_invalid|tree_mismatch|cannot be read/] as const),
  ] as const)('%s', async (_, table, column, value, where, wanted) => {
    await changed(table, column, value, where(), async () => {
      expect((await judged(['jsonl']))['jsonl']).toMatch(wanted);
      await asked();
    });
  });

  test.each([[String.raw`"\ud800"`, false], ['1e999', true]])('%s in what else is theirs', async (outcome, isShown) => {
    const settled = `json_build_object('by', '${admin.id}', 'outcome', '${outcome}'::json, 'note', 'mine')`;
    await changed('executions', 'settlement', settled, `id = (select max(id) from executions where agent_id = '${agent.id}')`, async () => {
      for (const format of ['jsonl', 'json', 'csv']) {
        const file = whole(await download(server, ROOT_KEY, `/api/v1/audit/${admin.id}/export`, { format }), format);
        expect(file.includes('[unreadable]')).toBe(isShown);
      }
    });
  });
});

describe('a server that breaks off', () => {
  async function against(answer: RequestListener): Promise<{ code: number | null; stderr: string }> {
    const other = createServer(answer).listen(0, '127.0.0.1');
    await once(other, 'listening');
    const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
    const { code, stderr } = await countersign(['audit', 'verify', '--no-remember', '--url', url, '--key', ROOT_KEY]);
    other.close();
    return { code, stderr };
  }

  test('before its export came is none that is not there', async () => {
    const { code, stderr } = await against((request) => request.socket.destroy());
    expect([code, stderr]).toEqual([2, expect.stringMatching(/ broke off before its export came \(.+\): try again; .* log says why/)]);
    expect(stderr).not.toContain('no server answers');
  });

  test('in the middle of it', async () => {
    const { code, stderr } = await against((request, response) => {
      response.writeHead(200, { 'content-type': 'application/x-ndjson' }).write('{"kind":"export"', () => request.socket.destroy());
    });
    expect([code, stderr]).toEqual([2, expect.stringMatching(/ broke off in the middle of its export \(.+\): try again; /)]);
  });
});
