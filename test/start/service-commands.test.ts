import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { anAgent, type BuiltAgent } from '../support/builders/agents.js';
import { aPerson, type BuiltPerson } from '../support/builders/people.js';
import { asRoot } from '../support/http/actors.js';
import { countersign } from '../support/servers/command-line.js';
import { startServer, type TestServer } from '../support/servers/server.js';
import { onTerminal } from '../support/servers/terminal.js';
import { ROOT_KEY, runFolder } from '../support/servers/test-run.js';

/** Clears the screen, sets the window's title, turns the direction, hides, rings. */
const HOSTILE = 'a\u001b[2J\u001b]0;owned\u0007\u202egnp.exe\u200b\u2066b\u009b31m';
const JSON_TYPE = { 'content-type': 'application/json' };
const HIDDEN = /[^\P{Cc}\n]|[\p{Cf}\p{Zl}\p{Zp}]/u;

let server: TestServer;
let agent: BuiltAgent;
let admin: BuiltPerson;

beforeAll(async () => {
  server = await startServer();
  agent = await anAgent(server).granted('web.search').granted('email.send', { hitlMode: 'propose' }).create();
  await server.sql('update agents set name = $1 where id = $2', [HOSTILE, agent.id]);
  admin = await aPerson(server, 'admin');
});
afterAll(() => server?.stop());

const env = (key = admin.key) => ({ COUNTERSIGN_URL: server.url, COUNTERSIGN_KEY: key });
const asked = async (input: object = { to: HOSTILE, text: 'x' }) =>
  (await agent.client.post('/api/v1/execute', { capability: 'email.send', action: 'send', input })).expect(202).text('hitlRequestId');
const statusOf = async (id: string) => (await asRoot(server).get(`/api/v1/hitl/${id}`)).text('status');

/** Runs a command for people, and for programs. @returns what it printed, and what its JSON says */
async function both(words: readonly string[], code = 0, key?: string): Promise<{ text: string; value: Record<string, never> }> {
  const [text, json] = [await countersign(words, env(key)), await countersign([...words, '--json'], env(key))];
  expect([text.code, json.code, json.stderr]).toEqual([code, code, text.stderr]);
  for (const { stdout, stderr } of [text, json]) expect(stdout + stderr).not.toMatch(HIDDEN);
  return { text: text.stdout, value: JSON.parse(json.stdout) as Record<string, never> };
}

describe('every command, by hand and by --json', () => {
  test('agents: registered, listed, shown, given a token, taken out of service and put back', async () => {
    const { value } = await both(['agents', 'register', 'by hand', '--risk', 'high'], 0, ROOT_KEY);
    expect(value).toMatchObject({ token: expect.any(String), agent: { name: 'by hand', riskLevel: 'high' } });
    const { text, value: list } = await both(['agents', 'list']);
    expect(text).toContain('⟦U+202E⟧');
    expect(list).toMatchObject({ agents: expect.arrayContaining([expect.objectContaining({ name: HOSTILE })]) });
    expect((await both(['agents', 'show', agent.id])).text).toMatch(/email\.send +propose +propose/);
    const { agent: { id } } = value as unknown as { agent: { id: string } };
    expect((await both(['agents', 'token', id])).value).toMatchObject({ token: expect.stringMatching(/^ey/) });
    const [off, on] = [['agents', 'deactivate', id, '--reason', 'no use'], ['agents', 'activate', id]];
    expect((await countersign(off, env())).stdout).toMatch(/deactivated +agt_/);
    expect((await countersign(on, env())).stdout).toMatch(/active +agt_/);
    for (const [words, status] of [[off, 'deactivated'], [on, 'active']] as const) {
      expect(JSON.parse((await countersign([...words, '--json'], env())).stdout)).toMatchObject({ agent: { id, status } });
    }
    expect(await countersign(on, env())).toMatchObject({ code: 1, stderr: expect.stringContaining('CONFLICT') });
    expect((await both(['agents', 'list', '--risk', 'unacceptable'])).text).toBe('  There is none.\n');
  });

  test('grants: given, listed, revoked', async () => {
    const other = await anAgent(server).create();
    const { value } = await both(['grants', 'create', 'web.search', '--agent', other.id, '--mode', 'propose']);
    expect(value).toMatchObject({ grant: { capability: 'web.search', hitlMode: 'propose', agentId: other.id } });
    const { text, value: list } = await both(['grants', 'list', '--agent', other.id]);
    expect(text).toMatch(/web\.search +propose/);
    const { grants: [{ id }] } = list as unknown as { grants: [{ id: string }] };
    expect(await countersign(['grants', 'revoke', id, '--json'], env())).toMatchObject({ code: 0, stdout: expect.stringContaining(id) });
    expect((await both(['grants', 'list', '--agent', other.id])).value).toMatchObject({ grants: [] });
  });

  test('execute: what ran, what waits, what is not granted; nothing but what ran ends with 0', async () => {
    const ran = await both(['execute', 'web.search', '--input', '{"q":"boats"}'], 0, agent.token);
    expect(ran.value).toMatchObject({ status: 'executed', executionId: expect.any(String) });
    const words = ['execute', 'email.send', '--input', '{"to":"a@example.com"}', '--idempotency-key', 'k-0123456789abcdef'];
    const waits = await both(words, 1, agent.token);
    expect(waits.value).toMatchObject({ status: 'pending_approval', hitlRequestId: expect.stringMatching(/^hitl_/) });
    expect(waits.text).toContain(String(waits.value['hitlRequestId']));
    const refused = await countersign(['execute', 'calendar.write'], env(agent.token));
    const wrong = await countersign(['execute', 'email.send', '--wait', 'abc'], env(agent.token));
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('--wait takes whole seconds')]);
    expect([refused.code, refused.stdout, refused.stderr]).toEqual([1, '', expect.stringMatching(/^countersign execute: CAPABILITY_NOT_/)]);
    expect((await both(['execute', 'email.send', '--dry-run'], 1, agent.token)).value).toMatchObject({ decision: 'ask' });
    expect((await both(['execute', 'web.search', '--dry-run'], 0, agent.token)).value).toMatchObject({ decision: 'run' });
  });

  test('execute --wait: a decision, its note, and a wait that is over', async () => {
    const waiting = countersign(['execute', 'email.send', '--input', '{"n":1}', '--wait', '25'], env(agent.token));
    const id = await open('{"n":1}');
    await countersign(['hitl', 'reject', id, '--note', `not ${HOSTILE}`], env());
    const { code, stderr } = await waiting;
    expect([code, stderr]).toEqual([1, expect.stringMatching(/HITL_REJECTED: not a⟦U\+001B⟧/)]);
    const over = await countersign(['execute', 'email.send', '--input', '{"n":2}', '--wait', '1', '--json'], env(agent.token));
    expect([over.code, JSON.parse(over.stdout)]).toEqual([1, expect.objectContaining({ status: 'pending_approval' })]);
  });

  test('hitl: listed, shown, handed on, approved by its digest', async () => {
    const id = await asked();
    const { text, value } = await both(['hitl', 'list']);
    expect(text).toContain(id);
    const listed = (value as unknown as { requests: { id: string; payload: object }[] }).requests.find((one) => one.id === id);
    expect(listed).toMatchObject({ agentName: HOSTILE, payload: { to: HOSTILE } });
    const shown = await both(['hitl', 'show', id]);
    const { actionDigest } = (shown.value as unknown as { request: { actionDigest: string } }).request;
    expect(shown.text).toContain(actionDigest);
    expect(shown.text).toContain('\\u001b[2J');
    const handedOn = await countersign(['hitl', 'escalate', id, '--reason', 'larger', '--json'], env());
    expect([handedOn.code, JSON.parse(handedOn.stdout)]).toEqual([0, { request: expect.objectContaining({ status: 'escalated' }) }]);
    const approved = await countersign(['hitl', 'approve', id, '--digest', actionDigest, '--note', 'well'], env(ROOT_KEY));
    expect([approved.code, approved.stdout]).toEqual([0, expect.stringContaining('approved')]);
    expect((await both(['hitl', 'list', '--status', 'approved'])).text).toContain(id);
  });

  test('stop and resume', async () => {
    const other = await anAgent(server).granted('web.search').create();
    const made = await countersign(['stop', '--agent', other.id, '--reason', 'enough', '--json'], env());
    const { stop: { id } } = JSON.parse(made.stdout) as { stop: { id: string } };
    expect((await other.client.post('/api/v1/execute', { capability: 'web.search' })).status).toBe(403);
    expect((await both(['resume'])).text).toMatch(new RegExp(`${id} +agent ${other.id} +enough`));
    expect(await countersign(['resume', id], env())).toMatchObject({ code: 0, stdout: expect.stringContaining('lifted') });
    expect((await both(['resume'])).value).toMatchObject({ stops: [] });
    const nothing = await countersign(['stop', '--reason', 'what'], env());
    expect([nothing.code, nothing.stderr]).toEqual([2, expect.stringContaining('give --agent')]);
  });
});

describe('an approval is of what was shown', () => {
  test('without a terminal nobody was shown it: a digest is needed, and another one is refused', async () => {
    const id = await asked();
    expect(await countersign(['hitl', 'approve', id], env())).toMatchObject({ code: 2, stderr: expect.stringContaining('give --digest') });
    for (const decision of ['approve', 'reject']) {
      const none = await countersign(['hitl', decision, id, '--digest', 'abc'], env());
      expect([none.code, none.stderr]).toEqual([2, expect.stringContaining('64 hexadecimal digits')]);
    }
    const other = await countersign(['hitl', 'approve', id, '--digest', 'a'.repeat(64)], env());
    expect([other.code, other.stderr]).toEqual([1, expect.stringContaining('HITL_DIGEST_MISMATCH')]);
    expect(await statusOf(id)).toBe('pending');
  });

  test('on a terminal it is shown, in colours, and approved by a yes alone', async () => {
    const id = await asked();
    for (const [typed, status] of [['no\n', 'pending'], ['\u0004', 'pending'], ['\u0003', 'pending'], ['yes\n', 'approved']] as const) {
      const { code, output } = await onTerminal(['hitl', 'approve', id], env(), [[/Type yes: /, () => typed]]);
      expect([typed, code, await statusOf(id)]).toEqual([typed, status === 'approved' ? 0 : 1, status]);
      expect(output).toContain('\u001b[');
      const said = stripVTControlCharacters(output).replaceAll('\r', '').replaceAll(/\^[A-Z]|[\u0003\u0004\b]/g, '');
      expect(said).not.toMatch(HIDDEN);
      expect(said).toContain('a⟦U+001B⟧[2J');
    }
  });

  test('what another person has edited since is not approved', async () => {
    const payer = await anAgent(server).granted('email.send', { hitlMode: 'escalate' }).create();
    const call = { capability: 'email.send', input: { to: 'a@example.com', amount: 10 } };
    const id = (await payer.client.post('/api/v1/execute', call)).expect(202).text('hitlRequestId');
    const other = await aPerson(server, 'admin');
    const edit = async () => {
      const editedInput = { to: 'a@example.com', amount: 1_000_000 };
      (await other.client.post(`/api/v1/hitl/${id}/approve`, { editedInput })).expect(200);
      return 'yes\n';
    };
    const { code, output } = await onTerminal(['hitl', 'approve', id], env(), [[/Type yes: /, edit]]);
    expect([code, output]).toEqual([1, expect.stringContaining('HITL_DIGEST_MISMATCH')]);
    expect(['pending', 'escalated']).toContain(await statusOf(id));
    expect((await both(['hitl', 'show', id])).text).toMatch(/as it was edited[^]*1000000[^]*asked for[^]*10/);
  });
});

describe('approved otherwise than it was asked', () => {
  test('as edited: both are shown, and the digest is of what was asked', async () => {
    const id = await asked({ amount: 10 });
    const edited = ['hitl', 'approve', id, '--input', '{"amount":1}'];
    const { code, output } = await onTerminal(edited, env(), [[/Type yes: /, () => 'yes\n']]);
    expect([code, output]).toEqual([0, expect.stringMatching(/What would run[^]*10[^]*run instead[^]*1[^]*approved/)]);
    const { value } = await both(['hitl', 'show', id]);
    expect(value).toMatchObject({ request: { payload: { amount: 1 }, requestedInput: { amount: 10 }, edit: { by: admin.id } } });
    const late = await countersign([...edited, '--digest', 'a'.repeat(64)], env());
    expect([late.code, late.stderr]).toEqual([1, expect.stringMatching(/HITL_ALREADY_DECIDED|HITL_DIGEST_MISMATCH/)]);
  });

  test('by break-glass, with a reason, though three have to approve', async () => {
    const payer = await anAgent(server).granted('email.send', { hitlMode: 'propose', quorum: { approvals: 3 } }).create();
    const id = (await payer.client.post('/api/v1/execute', { capability: 'email.send' })).expect(202).text('hitlRequestId');
    const owner = await aPerson(server, 'owner');
    const broken = (note: readonly string[], key: string) =>
      onTerminal(['hitl', 'approve', id, '--break-glass', ...note], env(key), [[/Type yes: /, () => 'yes\n']]);
    expect(await broken([], owner.key)).toMatchObject({ code: 2, output: expect.stringContaining('needs its reason') });
    expect(await broken(['--note', 'short'], owner.key)).toMatchObject({ code: 1, output: expect.stringContaining('REASON_REQUIRED') });
    const reason = ['--note', 'the house is on fire'];
    expect(await broken(reason, admin.key)).toMatchObject({ code: 0, output: expect.stringContaining('1 of 3 approvals') });
    const { code, output } = await broken(reason, owner.key);
    expect([code, stripVTControlCharacters(output)]).toEqual([0, expect.stringMatching(/every admin is told[^]*approved by break-glass/)]);
  });
});

describe('wrong usage is one sentence with exit code 2, and no key is in it', () => {
  const SECRET = `svc_user_${'0123456789abcdef'.repeat(4)}`;
  const cases: readonly (readonly [string, Record<string, string>, readonly string[], string])[] = [
    ['no server', { COUNTERSIGN_KEY: SECRET }, [], 'give --url'],
    ['no URL', { COUNTERSIGN_URL: 'nonsense', COUNTERSIGN_KEY: SECRET }, [], 'must be a URL'],
    ['/api/v1', { COUNTERSIGN_URL: 'http://127.0.0.1:1/api/v1', COUNTERSIGN_KEY: SECRET }, [], 'without /api/v1'],
    ['a key in the URL', { COUNTERSIGN_URL: `http://x:${SECRET}@127.0.0.1`, COUNTERSIGN_KEY: SECRET }, [], 'holds no credential'],
    ['no key', { COUNTERSIGN_URL: 'http://127.0.0.1:1' }, [], 'no key'],
    ['one that is none', { COUNTERSIGN_URL: 'http://127.0.0.1:1', COUNTERSIGN_KEY: `${SECRET.slice(0, -1)}x` }, [], 'credential is none'],
    ['a key, and a file of one', { COUNTERSIGN_URL: 'http://127.0.0.1:1' }, ['--key', SECRET, '--key-file', '/nowhere/key'],
      "'--key <key>' cannot be used with option '--key-file <file>'"],
    ['a file that is not there', { COUNTERSIGN_URL: 'http://127.0.0.1:1' }, ['--key-file', '/nowhere/key'], 'ENOENT'],
    ['nobody there', { COUNTERSIGN_URL: 'http://127.0.0.1:1', COUNTERSIGN_KEY: SECRET }, [],
      'UNREACHABLE: Nothing listens at http://127.0.0.1:1: start the server (npm start), or name another one by --url or COUNTERSIGN_URL.'],
    ['no host', { COUNTERSIGN_URL: 'http://no.host.invalid', COUNTERSIGN_KEY: SECRET }, [], 'No host is known by the name in http://no.host.invalid'],
    ['an option that is none', { COUNTERSIGN_URL: 'http://127.0.0.1:1', COUNTERSIGN_KEY: SECRET }, ['--nonsense'], '--nonsense'],
  ];
  test.each(cases)('%s', async (_, given, words, reason) => {
    const { code, stdout, stderr } = await countersign(['hitl', 'list', ...words], given);
    expect([code, stdout, stderr]).toEqual([2, '', expect.stringContaining(reason)]);
    expect(stderr).not.toContain(SECRET.slice(9, 40));
    expect(stderr.trim().split('\n')).toHaveLength(1);
  });

  test('where nothing was sent nobody is told that it may have been done', async () => {
    const there = { COUNTERSIGN_URL: 'http://127.0.0.1:1', COUNTERSIGN_KEY: SECRET };
    const { code, stderr } = await countersign(['stop', '--all', '--reason', 'test'], there);
    expect([code, stderr]).toEqual([2, expect.stringMatching(/by --url or COUNTERSIGN_URL\.\n$/)]);
  });

  test('answers that are none: a proxy\'s page, half of one, one without an end, none at all', async () => {
    const stranger = createServer((request, response) => {
      const kind = request.headers.authorization?.at(-1);
      if (kind === '0') response.writeHead(200, { 'content-type': 'text/html' }).end('<title>Sign in</title>');
      else if (kind === '1') half(response);
      else if (kind === '2') endless(response);
      else if (kind === '3') response.writeHead(302, { location: 'https://elsewhere.example' }).end();
    });
    await new Promise<void>((done) => stranger.listen(0, '127.0.0.1', done));
    const { port } = stranger.address() as AddressInfo;
    const outcomes = await Promise.all([0, 1, 2, 3, 4].map((kind) =>
      countersign(['agents', 'list'], { COUNTERSIGN_URL: `http://127.0.0.1:${port}`, COUNTERSIGN_KEY: SECRET.slice(0, -1) + kind })));
    stranger.closeAllConnections();
    stranger.close();
    const reasons = ['text/html', 'cut off', 'longer than', 'redirected', 'DEADLINE_EXCEEDED'];
    expect(outcomes).toEqual(reasons.map((reason) => ({ code: 2, stdout: '', stderr: expect.stringContaining(reason) })));
  });

  test('inputs that are none are sent to nobody', async () => {
    const inputs = {
      '{': '--input: it must be JSON', '[1]': 'must be a JSON object', '{"n":9007199254740993}': '/n must be a number within',
      '{"t":"\\ud800"}': '/t must not contain a lone surrogate', '{"a":{"to":"x","\\u0074o":"y"}}': '/a/to is given twice',
    };
    for (const [input, reason] of Object.entries(inputs)) {
      const { code, stderr } = await countersign(['execute', 'web.search', '--input', input], env(agent.token));
      expect([input, code, stderr]).toEqual([input, 2, expect.stringContaining(reason)]);
    }
  });

  test('a key that is refused is a refusal; one from a file is taken', async () => {
    const unknown = await countersign(['hitl', 'list'], env(SECRET));
    expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringContaining('UNAUTHENTICATED')]);
    const file = join(mkdtempSync(join(runFolder(), 'key-')), 'key');
    writeFileSync(file, `${admin.key}\n`);
    expect(await countersign(['hitl', 'list', '--url', server.url, '--key-file', file], {})).toMatchObject({ code: 0 });
    expect(await countersign(['hitl', 'list'], { COUNTERSIGN_URL: server.url, COUNTERSIGN_KEY_FILE: file })).toMatchObject({ code: 0 });
  });
});

async function open(input: string): Promise<string> {
  for (;;) {
    const { stdout } = await countersign(['hitl', 'list', '--json'], env());
    const { requests } = JSON.parse(stdout) as { requests: { id: string; payload: object }[] };
    const found = requests.find(({ payload }) => JSON.stringify(payload) === input);
    if (found) return found.id;
  }
}

function half(response: ServerResponse): void {
  response.writeHead(200, { ...JSON_TYPE, 'content-length': '99' }).write('{"agents":[', () => response.destroy());
}

/** JSON that goes on for as long as somebody reads. */
function endless(response: ServerResponse): void {
  response.writeHead(200, JSON_TYPE);
  const member = Buffer.from(`"${'x'.repeat(2 ** 20)}",`);
  const more = () => {
    while (!response.destroyed && response.write(member));
    if (!response.destroyed) response.once('drain', more);
  };
  more();
}
