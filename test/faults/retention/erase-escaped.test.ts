import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { SUMMARY_CHARACTERS } from '../../../src/domain/audit/entry/output-summary.js';
import { asRoot } from '../../support/http/actors.js';
import { anAgent, type BuiltAgent } from '../../support/builders/agents.js';
import { columnsWith, erased, erasuresOf, type SeenErasure, verification } from '../../support/erasure/erasures.js';
import { allSigned, download, verifyBytes } from '../../support/log/exports.js';
import { defineCapability, executionOf, requestOf } from '../../support/builders/gate.js';
import { aPerson, type BuiltPerson, firstOrganization } from '../../support/builders/people.js';
import { type Receiver, startReceiver } from '../../support/http/receiver.js';
import { aged, archiveFolder, inArchives, swept, verifiedArchives, verifiedWithArchives } from '../../support/retention/retention.js';
import { startServer, type TestServer } from '../../support/servers/server.js';
import { ROOT_KEY } from '../../support/servers/test-run.js';

let server: TestServer;
let receiver: Receiver;
let archive: string;
let admin: BuiltPerson;
let second: BuiltPerson;
let agent: BuiltAgent;
/** In no two tests the same, so that what is left of it can be looked for. */
let mark: string;

beforeAll(async () => {
  [archive, receiver] = await Promise.all([archiveFolder(), startReceiver()]);
  server = await startServer({ env: { AUDIT_CHECKPOINT_SECONDS: '1', AUDIT_ARCHIVE: archive } });
  await defineCapability(server, 'crm.push', { connector: { type: 'http', method: 'POST', url: receiver.url, body: '{input}' } });
});

afterAll(async () => {
  await server.stop();
  await receiver.close();
});

beforeEach(async () => {
  const organizationId = await firstOrganization(server);
  [admin, second] = [await aPerson(server, 'admin', { organizationId }), await aPerson(server, 'owner', { organizationId })];
  agent = await anAgent(server).granted('crm.push').granted('web.search').granted('email.send', { hitlMode: 'propose' }).create();
  mark = `q${randomBytes(5).toString('hex')}`;
});

/** Has somebody's endpoint answer this, which is then an execution's output. */
async function outputs(output: unknown): Promise<string> {
  receiver.script({ body: output });
  const call = { capability: 'crm.push', input: { x: 1 } };
  return (await agent.client.post('/api/v1/execute', call, { query: { wait: 10 } })).expect(200).text('executionId');
}

/** Waits for the end of the newest erasure, and has it confirmed where that is wanted. */
async function ended(): Promise<SeenErasure> {
  for (;;) {
    await erased(server);
    const [erasure] = await erasuresOf(admin.client);
    if (erasure!.state !== 'unconfirmed') return erasure!;
    (await second.client.post(`/api/v1/audit/erasures/${erasure!.id}/confirm`)).expect(200);
  }
}

async function eraseValues(...values: string[]): Promise<void> {
  expect([200, 202]).toContain((await admin.client.post('/api/v1/audit/erasures', { values, reason: 'they asked' })).status);
  expect(await ended()).toMatchObject({ kind: 'values', state: 'done', counts: { unreadable: 0, left: {} } });
}

async function eraseAccount({ id }: { readonly id: string }): Promise<void> {
  (await asRoot(server).delete(`/api/v1/users/${id}/data`)).expect(200);
  expect(await ended()).toMatchObject({ kind: 'user', state: 'done', counts: { unreadable: 0, left: {} } });
}

const summaries = async (): Promise<unknown[]> => {
  const query = { agentId: agent.id, event: 'execution.completed', limit: 100 };
  const entries = (await asRoot(server).get('/api/v1/audit', { query })).expect(200).list('entries') as { metadata: object }[];
  return entries.map(({ metadata }) => ('outputSummary' in metadata ? metadata.outputSummary : undefined));
};

/** By the server and the command, which hold rows against entries; by the verifier that knows nothing of this service. */
async function allVerifies(): Promise<void> {
  await allSigned(server);
  expect(await verification(server)).toMatchObject({ verdict: 'valid', breaks: [] });
  expect(await verifiedWithArchives(server.database, archive)).toMatchObject({ verdict: 'valid', breaks: [] });
  const { bytes } = await download(server, ROOT_KEY, '/api/v1/audit/export');
  expect(await verifyBytes(bytes)).toMatchObject({ verdict: expect.stringMatching(/^valid/), breaks: [] });
}

/** An output whose summary ends right behind these words. */
const endingWith = (words: string, rest: string) =>
  ({ text: `${'x'.repeat(SUMMARY_CHARACTERS - '{"text":" '.length - words.length)} ${words}${rest}` });

const CASES: readonly (readonly [what: string, wanted: (m: string) => string, output: (m: string) => unknown])[] = [
  ['an e-mail address behind a line break', (m) => `${m}@example.org`, (m) => ({ text: `Sent to:\n${m}@example.org` })],
  ['a name over two lines', (m) => `Grace ${m}`, (m) => ({ text: `for Grace\n${m}` })],
  ['a name behind a tab', (m) => `${m} Hopper`, (m) => ({ text: `name:\t${m} Hopper` })],
  ['a name behind a control character', (m) => `${m} Hopper`, (m) => ({ text: `name:\u0001${m} Hopper` })],
  ['a name with quotes', (m) => `Bob "${m}" Smith`, (m) => ({ text: `for Bob "${m}" Smith` })],
  ['a name with a backslash', (m) => `CORP\\n${m}`, (m) => ({ text: `by CORP\\n${m}` })],
  ['a name in JSON that is quoted, escaped to the letter', (m) => `${m} Müller`, (m) => ({ text: `{"to":"${m} M\\u00fcller"}` })],
  ['a name in JSON that is quoted twice', (m) => `Grace ${m}`, (m) => ({ text: JSON.stringify({ b: JSON.stringify(`Grace\n${m}`) }) })],
  ['a name of which the summary has a part', (m) => `${m} Hopper-Murray`, (m) => endingWith(`for ${m} Hopper`, '-Murray here')],
  ['a name cut in its first word', (m) => `${m}-Murray Hopper`, (m) => endingWith(`for ${m}`, '-Murray Hopper here')],
  ['a name cut in an escape', (m) => `${m} "Bob" Smith`, (m) => endingWith(`for ${m} \\`, '"Bob" Smith here')],
  ['an e-mail address of which the summary has a part', (m) => `${m}@example.org`, (m) => endingWith(`to ${m}@exam`, 'ple.org')],
  ['the name of a member that is a path', (m) => `HOPPER/${m}`, (m) => ({ errors: [{ pointer: `/HOPPER~1${m}/0` }] })],
];

describe('of an output, whose beginning the log has as JSON text, nothing is left', () => {
  test.each(CASES)('%s', async (_, wanted, output) => {
    const [other, id] = [await outputs({ text: 'of nobody\n' }), await outputs(output(mark))];
    expect(await columnsWith(server, mark)).toEqual(['audit_entries.disclosures', 'executions.output']);
    const foreseen = await admin.client.post('/api/v1/audit/erasures', { values: [wanted(mark)], reason: 'they asked', dryRun: true });
    expect(foreseen.expect(200).at('found')).toEqual({ values: 1, entries: 1, decisions: 0, complete: true });
    await eraseValues(wanted(mark));
    expect(await columnsWith(server, mark)).toEqual([]);
    expect((await summaries()).toSorted()).toEqual(['[erased]', '{"text":"of nobody\\n"}']);
    expect(JSON.stringify((await executionOf(server, id)).output)).toContain('[erased]');
    expect((await executionOf(server, other)).output).toEqual({ text: 'of nobody\n' });
    expect(await verification(server)).toMatchObject({ valid: true, breaks: [] });
  });

  test('where only a summary ends with the beginning of a name, the row keeps its output, and both agree', async () => {
    const output = endingWith(mark, 'elsewhere');
    const id = await outputs(output);
    await eraseValues(`${mark}-Murray Hopper`);
    expect(await summaries()).toEqual(['[erased]']);
    expect((await executionOf(server, id)).output).toEqual(output);
    await allVerifies();
  });

  test('when an account is erased', async () => {
    const [name, email] = [`Grace "${mark}" Hopper`, `${mark}@example.org`];
    const person = await aPerson(server, 'viewer', { name, email });
    for (const text of [`Sent to:\n${email}`, `for\t${email}`, `Hello\nGrace\n"${mark}"\nHopper`]) await outputs({ text });
    await outputs(endingWith(`for Grace \\"${mark.slice(0, 4)}`, `${mark.slice(4)}\\" Hopper`));
    await eraseAccount(person);
    expect(await columnsWith(server, mark.slice(0, 4), ['audit_entries', 'executions', 'users'])).toEqual([]);
    expect(await summaries()).toEqual(Array.from({ length: 4 }, () => '[erased]'));
    await allVerifies();
  });
});

test('texts that quote JSON go whole, in rows as well, and nothing beside them', async () => {
  const quoted = JSON.stringify({ to: `Grace\n${mark}`, amount: 5 });
  const input = { body: quoted, amount: 5 };
  const id = (await agent.client.post('/api/v1/execute', { capability: 'web.search', input })).expect(200).text('executionId');
  const error = { code: 'REFUSED', message: `they answered ${quoted}` };
  (await agent.client.post(`/api/v1/executions/${id}/report`, { outcome: 'failure', error })).expect(200);
  await eraseValues(`Grace ${mark}`);
  expect(await columnsWith(server, mark)).toEqual([]);
  const [row] = await server.sql<{ input: string; report: unknown }>('select input, report from executions where id = $1', [id]);
  expect(JSON.parse(row!.input)).toEqual({ body: '[erased]', amount: 5 });
  expect(row!.report).toMatchObject({ error: { code: 'REFUSED', message: '[erased]' } });
  await allVerifies();
});

describe('names of members, in what is said of an edit', () => {
  test.each<[string, (m: string) => string]>([
    ['with a slash', (m) => `HOPPER/${m}`],
    ['that are an address', (m) => `https://crm.example/${m}`],
    ['with a tilde', (m) => `~HOPPER~${m}`],
    ['with a line break', (m) => `Grace\n${m}`],
  ])('%s', async (_, nameOf) => {
    const name = nameOf(mark);
    const input = { [name]: 1, kept: { 'a/b': 1 } };
    const asked = (await agent.client.post('/api/v1/execute', { capability: 'email.send', input })).expect(202).text('hitlRequestId');
    const expectedDigest = (await requestOf(server, asked)).action_digest;
    const editedInput = { [name]: 2, kept: { 'a/b': 2 } };
    (await asRoot(server).post(`/api/v1/hitl/${asked}/approve`, { note: 'ok', editedInput, expectedDigest })).expect(200);
    expect(await columnsWith(server, mark)).toEqual(expect.arrayContaining([
      'audit_entries.disclosures', 'executions.edit', 'hitl_requests.edit_diff',
    ]));
    await eraseValues(name);
    expect(await columnsWith(server, mark)).toEqual([]);
    const edit = (await requestOf(server, asked))['edit'] as { readonly diff: { readonly path: string }[] };
    expect(edit.diff.toSorted((a, b) => (a.path < b.path ? -1 : 1))).toEqual([
      { op: 'replace', path: '/kept/a~1b', value: 2 }, { op: 'replace', path: '[erased]', value: 2 },
    ]);
    expect(await verification(server)).toMatchObject({ valid: true, breaks: [] });
  });
});

test('nothing is left in archives either', async () => {
  await outputs({ text: `Sent to:\n${mark}@example.org` });
  await outputs({ text: `for Grace\n${mark}` });
  await outputs(endingWith(`for ${mark} Hopper`, '-Murray here'));
  await aged(server.database);
  await swept(server.database, archive);
  expect(await columnsWith(server, mark, ['audit_entries'])).toEqual([]);
  expect(await inArchives(archive, [mark])).toEqual([mark]);
  await eraseValues(`${mark}@example.org`, `Grace ${mark}`, `${mark} Hopper-Murray`);
  expect(await inArchives(archive, [mark])).toEqual([]);
  expect(await columnsWith(server, mark)).toEqual([]);
  expect(await verifiedArchives(server.database, archive)).toMatchObject({ valid: true, breaks: [] });
  await allVerifies();
});
