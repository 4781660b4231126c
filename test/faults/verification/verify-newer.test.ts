import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { anAgent, type BuiltAgent } from '../../support/builders/agents.js';
import { countersign, type CommandResult } from '../../support/servers/command-line.js';
import { eventually } from '../../support/running/eventually.js';
import { withoutLeader } from '../../support/log/leader.js';
import { anOrganization } from '../../support/builders/people.js';
import { aged, archiveFolder, swept } from '../../support/retention/retention.js';
import { startServer, type TestServer } from '../../support/servers/server.js';
import { runFolder } from '../../support/servers/test-run.js';
import { transferred, welcomed } from '../../support/builders/transfers.js';
import { verifiedLog } from '../../support/log/verified-log.js';

let server: TestServer;
let agent: BuiltAgent;
let idle: BuiltAgent;
let home: string;
let archive: string;
let files = 0;

beforeAll(async () => {
  server = await startServer({ env: { AUDIT_CHECKPOINT_SECONDS: '1' } });
  archive = await archiveFolder();
  [agent, idle] = [await anAgent(server).granted('web.search').create(), await anAgent(server).granted('web.search').create()];
  await works(idle);
  await works(agent, 3);
  const [row] = await server.sql<{ home: string }>('select organization_id as home from audit_heads where chain = $1', [agent.id]);
  home = row!.home;
});
afterAll(() => server.stop());

async function works({ client }: Pick<BuiltAgent, 'client'>, times = 2): Promise<void> {
  for (let i = 0; i < times; i++) {
    (await client.post('/api/v1/execute', { capability: 'web.search', input: { q: `steel ${i}` } })).expect(200);
  }
}

const aFile = () => join(runFolder(), `remembered-${process.pid}-${++files}.json`);

interface Told {
  readonly valid: boolean;
  readonly verdict: string;
  readonly entries: number;
  readonly breaks: readonly { readonly kind: string; readonly chain: string }[];
  readonly newer?: {
    readonly everything: boolean; readonly because?: string; readonly older: number;
    readonly since: readonly { readonly organizationId: string; readonly size: number }[];
  };
  readonly completeness?: unknown;
}

const verify = (file: string, ...words: string[]): Promise<CommandResult> =>
  countersign(['audit', 'verify', '--remember', file, '--database-url', server.database.url, ...words]);

async function told(file: string, ...words: string[]): Promise<Told & { readonly code: number | null }> {
  const { code, stdout, stderr } = await verify(file, '--json', ...words);
  if (stdout === '') throw new Error(stderr);
  return { code, ...(JSON.parse(stdout) as Told) };
}

/** Until everything that was written is under a checkpoint. */
const covered = () =>
  eventually(async () => expect(await verifiedLog(server.database.url)).toMatchObject({ verdict: 'valid' }));

/** A file in which all of the log, as it stands, is remembered. */
async function remembered(): Promise<string> {
  await covered();
  const file = aFile();
  expect(await told(file)).toMatchObject({ code: 0, verdict: 'valid' });
  return file;
}

/** Entries of the installation itself, which is always read whole, and of all others. */
async function counts(): Promise<{ own: number; others: number }> {
  const [row] = await server.sql<{ own: number; others: number }>(
    `select count(*) filter (where organization_id = 'org_platform')::integer as own,
       count(*) filter (where organization_id <> 'org_platform')::integer as others from audit_entries`);
  return row!;
}

describe('audit verify --newer', () => {
  test('reads everything where nothing is remembered, says so, and remembers', async () => {
    await covered();
    const file = aFile();
    const first = await told(file, '--newer');
    const { own, others } = await counts();
    expect(first).toMatchObject({
      code: 0, entries: own + others, newer: { everything: true, because: 'nothing_remembered', older: 0, since: [] },
      completeness: { breaks: 0 },
    });
    expect((await verify(aFile(), '--newer')).stdout).toContain('everything was read: nothing is remembered yet');
    expect(await told(file, '--newer')).toMatchObject({ code: 0, newer: { everything: false } });
    // It holds what whoever owns the database must not know.
    expect((await stat(file)).mode & 0o077).toBe(0);
  });

  test('reads only what is newer, and tells from where on', async () => {
    const file = await remembered();
    const before = await counts();
    await works(agent, 2);
    await works(await anAgent(server).granted('web.search').create(), 1);
    const newer = await told(file, '--newer');
    const { own, others } = await counts();
    expect(others - before.others).toBeGreaterThan(6);
    expect(newer).toMatchObject({ code: 0, valid: true, breaks: [], entries: own + others - before.others });
    expect(newer.newer).toEqual({ everything: false, older: before.others, since: [{ organizationId: home, size: before.others }] });
    expect(newer).not.toHaveProperty('completeness');
    // Remembered in turn: the next one goes on from there.
    await covered();
    const { newer: next } = await told(file, '--newer');
    expect(next!.older).toBeGreaterThanOrEqual(before.others);
    expect(await told(file, '--newer')).toMatchObject({ code: 0, entries: (await counts()).own, newer: { older: others } });
    const { code, stdout } = await verify(file, '--newer');
    expect(code).toBe(0);
    expect(stdout).toContain('What is newer goes on from what is remembered');
    expect(stdout).toContain(`${home} from its checkpoint ${others} on`);
    expect(stdout).toContain(`not read again: ${others} older entries`);
  });

  test('never takes what one agent\'s verification remembers for what was read', async () => {
    const file = aFile();
    expect(await told(file, '--agent', agent.id)).toMatchObject({ code: 0 });
    expect(await told(file, '--newer')).toMatchObject({ code: 0, newer: { everything: true, because: 'nothing_remembered' } });
    const [{ others }] = [await counts()];
    await works(agent, 1);
    await covered();
    expect(await told(file, '--agent', agent.id)).toMatchObject({ code: 0 });
    expect((await told(file, '--newer')).newer!.older).toBeLessThanOrEqual(others);
  });

  test('goes on over an agent\'s transfer there and back', async () => {
    const moved = await anAgent(server).granted('web.search').create();
    await works(moved);
    const file = await remembered();
    const elsewhere = await anOrganization(server);
    (await transferred(server, moved, elsewhere)).expect(200);
    await works({ client: await welcomed(server, moved) });
    expect(await told(file, '--newer')).toMatchObject({ code: 0, breaks: [], newer: { everything: false } });
    await covered();
    expect(await told(file, '--newer')).toMatchObject({ code: 0, breaks: [], newer: { everything: false } });
    (await transferred(server, moved, home)).expect(200);
    await works({ client: await welcomed(server, moved) }, 1);
    expect(await told(file, '--newer')).toMatchObject({ code: 0, breaks: [], newer: { everything: false } });
  });

  test('is refused where it cannot be, with what to do', async () => {
    const file = await remembered();
    for (const [words, what] of [
      [['--url', server.url], '--database-url'],
      [['--file', 'log.jsonl'], 'leave --newer out'],
      [['--database-url', server.database.url, '--agent', agent.id], '--agent'],
      [['--database-url', server.database.url, '--no-remember'], '--no-remember'],
    ] as const) {
      const { code, stderr } = await countersign(['audit', 'verify', '--newer', '--remember', file, ...words]);
      expect([code, stderr.includes(what)]).toEqual([2, true]);
    }
    await writeFile(file, '{"a/b read": {"note": "x"}}');
    expect((await verify(file, '--newer')).code).toBe(2);
  });
});

const KEPT = ['audit_entries', 'audit_heads', 'audit_trees', 'audit_tree_leaves', 'audit_checkpoints'];

/** Makes the changes as a superuser past every trigger, has the command look, and undoes them. */
function tampered(file: string, changes: readonly string[], look: () => Promise<Awaited<ReturnType<typeof told>>>) {
  return withoutLeader(server.database, async () => {
    for (const table of KEPT) await server.sql(`create table kept_${table} as select * from ${table}`);
    await server.sql('create table kept_queue as select organization_id, chains, seqs, hashes from audit_tree_queue order by id');
    const kept = await readFile(file);
    try {
      await server.database.asSuperuser(...changes);
      return await look();
    } finally {
      await writeFile(file, kept);
      await server.database.asSuperuser(
        `truncate ${KEPT.join(', ')}, audit_tree_queue`,
        ...KEPT.map((table) => `insert into ${table} select * from kept_${table}`),
        'insert into audit_tree_queue (organization_id, chains, seqs, hashes) select * from kept_queue',
      );
      await server.sql(`drop table kept_queue, ${KEPT.map((table) => `kept_${table}`).join(', ')}`);
    }
  });
}

describe('what was done to the log since', () => {
  let file: string;
  let size: number;
  /** The last position of the agent's chain that is remembered, and of the idle one's. */
  let last: number;
  let end: number;

  const lastOf = async (chain: string) => {
    const [row] = await server.sql<{ seq: number }>('select seq::integer from audit_heads where chain = $1', [chain]);
    return row!.seq;
  };

  beforeAll(async () => {
    file = await remembered();
    [last, end] = [await lastOf(agent.id), await lastOf(idle.id)];
    const [tree] = await server.sql<{ size: number }>('select size::integer from audit_trees where organization_id = $1', [home]);
    ({ size } = tree!);
    await works(agent, 3);
    await covered();
  });

  const where = (seq: number, chain = agent.id) => `where chain = '${chain}' and seq = ${seq}`;
  const headTo = (seq: number, chain: string) =>
    `update audit_heads h set seq = e.seq, hash = e.hash from audit_entries e
     where e.chain = '${chain}' and e.seq = ${seq} and h.chain = e.chain and h.organization_id = e.organization_id`;
  const copied = (chain: string, seq: string, prev: string) =>
    `insert into audit_entries select organization_id, ${chain}, ${seq}, id || 'x', event, ${chain}, actor_id, capability, outcome,
       "timestamp", payload, disclosures, ${prev}, repeat('2', 64) from audit_entries ${where(last + 2)}`;

  test.each<[string, () => readonly string[]]>([
    ['a newer entry edited', () => [`update audit_entries set actor_id = 'root' ${where(last + 2)}`]],
    ['a newer value changed', () => [`update audit_entries set disclosures = replace(disclosures, 'steel', 'stool') ${where(last + 1)}`]],
    ['a newer entry deleted', () => [`delete from audit_entries ${where(last + 2)}`]],
    ['the first newer entry deleted', () => [`delete from audit_entries ${where(last + 1)}`]],
    ['the newest cut off, the head to fit', () => [
      `delete from audit_entries where chain = '${agent.id}' and seq > ${last + 3}`, headTo(last + 3, agent.id)]],
    ['all that is newer cut off, head, tree and queue to fit', () => [
      `delete from audit_entries where chain = '${agent.id}' and seq > ${last}`, headTo(last, agent.id),
      `update audit_trees set size = ${size}, tail_chains = tail_chains[1:${size % 256}], tail_seqs = tail_seqs[1:${size % 256}],
         tail_hashes = tail_hashes[1:${size % 256}] where organization_id = '${home}'`,
      'delete from audit_tree_queue',
      `delete from audit_checkpoints where organization_id = '${home}' and size > ${size}`]],
    ['an entry inserted behind the last', () => [copied('chain', '1000 + seq', "repeat('1', 64)")]],
    ['an entry inserted behind an idle chain\'s last', () => [copied(`'${idle.id}'`, `${end + 1}`, "repeat('1', 64)")]],
    ['a chain inserted', () => [copied(`'agt_${'0'.repeat(38)}'`, '1', 'null')]],
    ['a fork: the first newer goes on from elsewhere', () => [`update audit_entries set prev_hash = repeat('1', 64) ${where(last + 1)}`]],
    ['the predecessor hashed anew', () => [`update audit_entries set hash = repeat('1', 64) ${where(last)}`]],
    ['the predecessor edited', () => [`update audit_entries set outcome = 'denied' ${where(last)}`]],
    ['the end of an idle chain cut off', () => [`delete from audit_entries ${where(end, idle.id)}`]],
    ['the end of an idle chain cut off, the head to fit', () => [
      `delete from audit_entries ${where(end, idle.id)}`, headTo(end - 1, idle.id)]],
    ['an idle chain removed, head and all', () => [
      `delete from audit_entries where chain = '${idle.id}'`, `delete from audit_heads where chain = '${idle.id}'`]],
    ['the tree cut off below what is remembered', () => [
      `update audit_trees set size = size - cardinality(tail_chains) + 1, tail_chains = tail_chains[1:1], tail_seqs = tail_seqs[1:1],
         tail_hashes = tail_hashes[1:1] where organization_id = '${home}'`]],
    ['an older leaf changed', () => [`update audit_trees set tail_hashes[1] = repeat('1', 64) where organization_id = '${home}'`]],
    ['the tree taken away', () => [`delete from audit_trees where organization_id = '${home}'`]],
    ['the newest checkpoint unsigned', () => [
      `update audit_checkpoints set note = split_part(note, E'\\n\\n', 1) || E'\\n\\n'
       where organization_id = '${home}' and size > ${size}`]],
  ])('%s: found', async (_name, changes) => {
    const found = await tampered(file, changes(), () => told(file, '--newer'));
    expect(found).toMatchObject({ code: 1, valid: false, verdict: 'tampered', newer: { everything: true, because: 'does_not_go_on' } });
    expect(found.breaks.length).toBeGreaterThan(0);
  });

  test('untouched, nothing is found', async () => {
    expect(await tampered(file, ['select'], () => told(file, '--newer'))).toMatchObject({ code: 0, newer: { everything: false } });
  });

  test('an older entry edited, or taken from the middle: not looked at, which is said; a whole verification finds it', async () => {
    for (const change of [`update audit_entries set actor_id = 'usr_eve' ${where(3)}`, `delete from audit_entries ${where(3)}`]) {
      expect(await tampered(file, [change], () => told(file, '--newer'))).toMatchObject({
        code: 0, newer: { everything: false, since: expect.arrayContaining([{ organizationId: home, size }]) } });
      expect(await tampered(file, [change], () => told(file))).toMatchObject({ code: 1 });
    }
  });
});

// These change the log for good.
describe('at the end', () => {
  test('over more than a tile of leaves before, and another one after', async () => {
    const sizeOf = async () => {
      const [row] = await server.sql<{ size: number }>('select size::integer from audit_trees where organization_id = $1', [home]);
      return row!.size;
    };
    const grown = async (to: number) => {
      await eventually(async () => {
        await works(agent, 20);
        expect(await sizeOf()).toBeGreaterThan(to);
      });
    };
    await grown(256);
    const file = await remembered();
    const [size, before] = [await sizeOf(), await counts()];
    await grown(Math.ceil(size / 256) * 256);
    await covered();
    const { own, others } = await counts();
    expect(await told(file, '--newer')).toMatchObject({
      code: 0, verdict: 'valid', entries: own + others - before.others,
      newer: { since: expect.arrayContaining([{ organizationId: home, size }]) },
    });
  });

  test('a sweep below the checkpoint is no alarm, nor is one beyond it', async () => {
    await works(agent, 1);
    await aged(server.database);
    const file = await remembered();
    await works(agent, 1);
    expect(await swept(server.database, archive)).not.toEqual([]);
    await works(idle, 1);
    expect(await told(file, '--newer')).toMatchObject({ code: 0, breaks: [], newer: { everything: false } });
    expect(await told(file, '--newer')).toMatchObject({ code: 0, breaks: [], newer: { everything: false } });
    const older = await remembered();
    await works(agent, 2);
    await aged(server.database);
    expect(await swept(server.database, archive)).not.toEqual([]);
    await works(agent, 1);
    const isHome = expect.objectContaining({ organizationId: home });
    // What went beyond it was newer: this organization is read whole.
    expect(await told(older, '--newer')).toMatchObject({ code: 0, breaks: [], newer: { since: expect.not.arrayContaining([isHome]) } });
    expect(await told(older, '--newer')).toMatchObject({ code: 0, breaks: [], newer: { since: expect.arrayContaining([isHome]) } });
  });

  test('a chain set back, and gone on from there by the service itself, which signs it', async () => {
    await works(idle, 3);
    const file = await remembered();
    const [{ seq }] = (await server.sql<{ seq: number }>(
      'select max(seq)::integer - 2 as seq from audit_entries where chain = $1', [idle.id])) as [{ seq: number }];
    await server.database.asSuperuser(
      `delete from audit_entries where chain = '${idle.id}' and seq > ${seq}`,
      `update audit_heads h set seq = e.seq, hash = e.hash from audit_entries e
       where e.chain = '${idle.id}' and e.seq = ${seq} and h.chain = e.chain and h.organization_id = e.organization_id`);
    await works(idle, 2);
    // The service has noticed nothing: it goes on, and signs.
    await eventually(async () => {
      const left = await server.sql(`select from audit_trees t where not exists (
        select from audit_checkpoints c where c.organization_id = t.organization_id and c.size = t.size)`);
      expect(left).toEqual([]);
    });
    expect(await told(file, '--newer')).toMatchObject({ code: 1, verdict: 'tampered', newer: { everything: true } });
  });
});
