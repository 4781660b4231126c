import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { anonymous, as, asRoot, type Client, type Reply } from '../../support/http/actors.js';
import { anAgent, type BuiltAgent } from '../../support/builders/agents.js';
import { aPerson, type BuiltPerson } from '../../support/builders/people.js';
import { closeRawConnections, sendRaw } from '../../support/http/raw-http.js';
import { startServer, type TestServer } from '../../support/servers/server.js';
import { ROOT_KEY } from '../../support/servers/test-run.js';
import { storedState } from '../../support/log/stored-state.js';

// What people who are new here get wrong, and the one sentence that they are told. Nothing of it may have an effect.

let server: TestServer;
let root: Client;
let agent: BuiltAgent;
let other: BuiltAgent;
let viewer: BuiltPerson;
let request: string;

beforeAll(async () => {
  server = await startServer();
  root = asRoot(server);
  agent = await anAgent(server).granted('web.search').granted('email.send', { hitlMode: 'propose' }).create();
  other = await anAgent(server).create();
  viewer = await aPerson(server, 'viewer');
  request = (await agent.client.post('/api/v1/execute', { capability: 'email.send', input: { amount: 9_999 } })).text('hitlRequestId');
});

afterAll(async () => {
  closeRawConnections();
  await server.stop();
});

type Mistake = readonly [what: string, call: () => Promise<Reply>, status: number, code: string, sentence: string | RegExp];

const V1 = '/api/v1';
const execute = (body: unknown, query: Record<string, string> = {}) => () => agent.client.post(`${V1}/execute`, body, { query });
const asking = (by: () => Client, path: string, query: Record<string, string> = {}) => () => by().get(`${V1}${path}`, { query });
const byRoot = () => root;
const granting = (terms: object) => () =>
  root.post(`${V1}/capabilities/grant`, { agentId: agent.id, capability: 'web.search', ...terms });
const approving = (body: object) => () => root.post(`${V1}/hitl/${request}/approve`, body);
const nobody = (headers: Record<string, string>) => () => anonymous(server).get(`${V1}/agents`, { headers });
const NO_SUCH = 'GET /api/v1/capabilities lists all.';

const MISTAKES: readonly Mistake[] = [
  ['dry run, misspelt', execute({ capability: 'web.search', dryrun: true }), 400, 'VALIDATION_FAILED',
    '/dryrun is not known here; did you mean dryRun?'],
  ['dry run, in the query', execute({ capability: 'web.search' }, { dryRun: 'true' }), 400, 'VALIDATION_FAILED',
    '?dryRun is a member of the body, not a parameter of the query.'],
  ['dry run of what only asks', () => agent.client.post(`${V1}/hitl`, { capability: 'email.send', dryRun: true }), 400, 'VALIDATION_FAILED',
    '/dryRun is not known here; known are agentId, capability, action, payload, context.'],
  ['params', execute({ capability: 'web.search', params: { q: 'x' } }), 400, 'VALIDATION_FAILED',
    '/params is not known here; did you mean input?'],
  ['arguments', execute({ capability: 'web.search', arguments: { q: 'x' } }), 400, 'VALIDATION_FAILED',
    '/arguments is not known here; did you mean input?'],
  ['tool', execute({ tool: 'web.search' }), 400, 'VALIDATION_FAILED', '/tool is not known here; did you mean capability?'],
  ['a misspelt required member', execute({ capabilty: 'web.search' }), 400, 'VALIDATION_FAILED',
    '/capabilty is not known here; did you mean capability?'],
  ['no body', execute(undefined), 400, 'VALIDATION_FAILED', '/capability is required: it must be a string of 1 to 200 characters.'],
  ['an input that is a text', execute({ capability: 'web.search', input: 'steel' }), 400, 'VALIDATION_FAILED', '/input must be an object.'],
  ['input and payload that differ', execute({ capability: 'web.search', input: {}, payload: { a: 1 } }), 400, 'VALIDATION_FAILED',
    '/payload says something else than input; give one of the two.'],
  ['waiting, in the body', execute({ capability: 'web.search', wait: 5 }), 400, 'VALIDATION_FAILED',
    '/wait is a parameter of the query, not a member of the body.'],
  ['waiting for too long', execute({ capability: 'web.search' }, { wait: '60' }), 400, 'VALIDATION_FAILED',
    '?wait must be a whole number from 0 to 55.'],
  ['skipping people', execute({ capability: 'email.send', skipHitl: true }), 403, 'FORBIDDEN',
    'skipHitl is for calls inside the service; no request may ask for it.'],
  ['root without an agent', () => root.post(`${V1}/execute`, { capability: 'web.search' }), 400, 'VALIDATION_FAILED',
    '/agentId is required unless the caller is an agent: the agent that acts.'],
  ['another agent', () => agent.client.post(`${V1}/execute`, { capability: 'web.search', agentId: other.id }), 403, 'FORBIDDEN',
    'An agent acts for itself; leave agentId out.'],
  ['a misspelt capability', execute({ capability: 'web.serch' }), 403, 'CAPABILITY_NOT_GRANTED',
    `There is no capability "web.serch"; did you mean "web.search"? ${NO_SUCH}`],
  ['a misspelt capability, by root', () => root.post(`${V1}/execute`, { capability: 'web:search', agentId: agent.id, dryRun: false }), 403,
    'CAPABILITY_NOT_GRANTED', `There is no capability "web:search"; did you mean "web.search"? ${NO_SUCH}`],
  ['a capability that is not there at all', execute({ capability: 'crm.sync' }), 403, 'CAPABILITY_NOT_GRANTED',
    `There is no capability "crm.sync". ${NO_SUCH}`],
  ['a capability that is not granted', execute({ capability: 'file.write' }), 403, 'CAPABILITY_NOT_GRANTED',
    'The token does not hold this capability.'],
  ['a person who executes', () => viewer.client.post(`${V1}/execute`, { capability: 'web.search' }), 403, 'FORBIDDEN',
    'The role viewer may not execute through the gate (owners and admins: dry runs alone).'],
  ['an edit, misspelt', approving({ editInput: { amount: 1 } }), 400, 'VALIDATION_FAILED',
    '/editInput is not known here; did you mean editedInput?'],
  ['a digest, misspelt', approving({ expectedDigst: 'a'.repeat(64) }), 400, 'VALIDATION_FAILED',
    '/expectedDigst is not known here; did you mean expectedDigest?'],
  ['a decision in the body', () => root.post(`${V1}/hitl/${request}/reject`, { approved: false }), 400, 'VALIDATION_FAILED',
    '/approved is not known here; known are note, expectedDigest.'],
  ['an escalation without a reason', () => root.post(`${V1}/hitl/${request}/escalate`, {}), 400, 'VALIDATION_FAILED',
    '/reason is required: it must be a string of 1 to 4000 characters.'],
  ['mode of a grant', granting({ mode: 'block' }), 400, 'VALIDATION_FAILED', '/mode is not known here; did you mean hitlMode?'],
  ['mode of a grant at registration', () => root.post(`${V1}/agents`, { name: 'a', grants: [{ capability: 'web.search', mode: 'block' }] }),
    400, 'VALIDATION_FAILED', '/grants/0/mode is not known here; did you mean hitlMode?'],
  ['a mode that is none', granting({ hitlMode: 'ask' }), 400, 'VALIDATION_FAILED', /^\/hitlMode must be one of: .*never means never ask/],
  ['the name of the capability as name', () => root.post(`${V1}/agents/${agent.id}/capabilities`, { name: 'web.search' }), 400,
    'VALIDATION_FAILED', '/name is not known here; did you mean capability?'],
  ['an end of a grant, by another word', granting({ validUntil: '2030-01-01T00:00:00Z' }), 400, 'VALIDATION_FAILED',
    '/validUntil is not known here; did you mean expiresAt?'],
  ['granting what is not there', granting({ capability: 'emial.send' }), 404, 'NOT_FOUND',
    `There is no capability "emial.send"; did you mean "email.send"? ${NO_SUCH}`],
  ['a condition without when', granting({ conditions: [{ if: 'input.amount > 5', hitlMode: 'block' }] }), 400, 'VALIDATION_FAILED',
    '/conditions/0/if is not known here; did you mean when?'],
  ['a condition on a bare member', granting({ conditions: [{ when: 'amount > 5', hitlMode: 'block' }] }), 422, 'INVALID_CONDITION',
    'The condition cannot be used: there is no variable `amount` here; there are input, context, agent, capability and now, '
    + 'and a member of the input is `input.amount` (line 1, column 1).'],
  ['a limit on a bare member', granting({ limits: [{ max: 5, per: 'day', sum: 'amount', then: 'block' }] }), 422, 'INVALID_CONDITION',
    /^The sum cannot be used: there is no variable `amount` here; there are input, context, agent, capability and now/],
  ['a limit of a misspelt window', granting({ limits: [{ max: 5, pre: 'day', then: 'block' }] }), 400, 'VALIDATION_FAILED',
    '/limits/0/pre is not known here; did you mean per?'],
  ['a connector, misspelt', () => root.patch(`${V1}/capabilities/web.search`, {
    connector: { type: 'http', method: 'GET', url: 'https://api.example.test/', timeoutSecond: 5 },
  }), 400, 'VALIDATION_FAILED', 'The definition cannot be used.'],
  ['the risk of an agent, where it is not changed', () => root.patch(`${V1}/agents/${agent.id}`, { riskLevel: 'high' }), 400,
    'VALIDATION_FAILED', '/riskLevel is not known here; known are name, description, tags, metadata, ownerId, teamId.'],
  ['a stop of a type', () => root.post(`${V1}/stops`, { type: 'agent', id: agent.id, reason: 'x' }), 400, 'VALIDATION_FAILED',
    '/type is not known here; did you mean scope?'],
  ['a filter in another spelling', asking(byRoot, '/audit', { userid: 'usr_x' }), 400, 'VALIDATION_FAILED',
    '?userid is not known here; did you mean userId?'],
  ['a filter of another interface', asking(byRoot, '/audit', { since: '2026-01-01' }), 400, 'VALIDATION_FAILED',
    '?since is not known here; did you mean from?'],
  ['pages by number', asking(byRoot, '/agents', { page: '2' }), 400, 'VALIDATION_FAILED', '?page is not known here; did you mean cursor?'],
  ['too large a page', asking(byRoot, '/agents', { limit: '1000' }), 400, 'VALIDATION_FAILED',
    '?limit must be a whole number from 1 to 500.'],
  ['a status that is none', asking(byRoot, '/hitl', { status: 'open' }), 400, 'VALIDATION_FAILED', /^\?status must be one of: pending, /],
  ['a parameter where there is none', () => asking(byRoot, `/agents/${agent.id}`, { expand: 'grants' })(), 400, 'VALIDATION_FAILED',
    '?expand is not known here: leave it out.'],
  ['a member where there is none', () => root.post(`${V1}/agents/${agent.id}/token`, { expiresIn: 60 }), 400, 'VALIDATION_FAILED',
    '/expiresIn is not known here: leave it out.'],
  ['a name for an id', asking(byRoot, '/agents/mailer'), 404, 'NOT_FOUND',
    '"mailer" is no id: here stands the id of an agent, which begins with agt_.'],
  ['the id of something else', () => asking(byRoot, `/agents/${viewer.id}`)(), 404, 'NOT_FOUND',
    /^"usr_\w+" is the id of a user: here stands the id of an agent, which begins with agt_\.$/],
  ['a placeholder for an id', asking(byRoot, '/hitl/{id}'), 404, 'NOT_FOUND',
    '"{id}" is no id: here stands the id of a request, which begins with hitl_.'],
  ['no id', () => root.post(`${V1}/agents//capabilities`, { capability: 'web.search' }), 404, 'NOT_FOUND',
    'There is no such route: an id is missing between two slashes of the path.'],
  ['a path without its prefix', () => root.get('/agents'), 404, 'NOT_FOUND', "There is no such route. The API's paths begin with /api/v1."],
  ['a broken escape in one without its prefix', () => root.get('/agents/%zz'), 404, 'NOT_FOUND',
    'There is no such route. The documentation at /docs lists them all.'],
  ['a path that is none', () => root.get(`${V1}/robots`), 404, 'NOT_FOUND',
    'There is no such route. The documentation at /docs lists them all.'],
  ['reading what executes', asking(byRoot, '/execute'), 405, 'METHOD_NOT_ALLOWED', 'GET is not for this path: it takes POST.'],
  ['putting what is patched', () => root.put(`${V1}/agents/${agent.id}`, { name: 'b' }), 405, 'METHOD_NOT_ALLOWED',
    'PUT is not for this path: it takes DELETE, GET, HEAD, PATCH.'],
  ['deleting the log', () => root.delete(`${V1}/audit`), 405, 'METHOD_NOT_ALLOWED', 'DELETE is not for this path: it takes GET, HEAD.'],
  ['no credential', nobody({}), 401, 'UNAUTHENTICATED', 'Send a credential: "Authorization: Bearer <credential>".'],
  ['a key without Bearer', () => nobody({ authorization: viewer.key })(), 401, 'UNAUTHENTICATED',
    'This credential does not hold: Authorization must be "Bearer <credential>".'],
  ['a personal key as x-api-key', () => nobody({ 'x-api-key': viewer.key })(), 401, 'UNAUTHENTICATED', 'This credential does not hold: '
    + 'x-api-key takes the root key only; send any other credential as "Authorization: Bearer <credential>".'],
  ['a token as x-api-key', () => nobody({ 'x-api-key': agent.token })(), 401, 'UNAUTHENTICATED', /x-api-key takes the root key only/],
  ['a key that is none', () => as(server, 'secret')['get'](`${V1}/agents`), 401, 'UNAUTHENTICATED', /^This credential does not hold: /],
  ['JavaScript for JSON', () => root.post(`${V1}/agents`, undefined, { raw: `{name: 'a'}` }), 400, 'VALIDATION_FAILED',
    'The body cannot be read.'],
  ['a form for JSON', () => root.post(`${V1}/agents`, undefined, {
    raw: 'name=a', headers: { 'content-type': 'application/x-www-form-urlencoded' },
  }), 415, 'UNSUPPORTED_MEDIA_TYPE', 'Send JSON in UTF-8, with the header Content-Type: application/json.'],
];

describe('what newcomers get wrong', () => {
  test.each(MISTAKES)('%s', async (_what, call, status, code, sentence) => {
    const answer = (await call()).expect(status, code);
    expect(answer.headers.get('content-type')).toMatch(/^application\/problem\+json/);
    if (typeof sentence === 'string') expect(answer.text('detail')).toBe(sentence);
    else expect(answer.text('detail')).toMatch(sentence);
  });

  test('there are many, and none of them has an effect', async () => {
    expect(MISTAKES.length).toBeGreaterThanOrEqual(40);
    // Root's refused executions are entries, as the gate's rules say; they are made before.
    const before = await storedState(server);
    for (const [what, call] of MISTAKES.filter(([name]) => !/by root$/.test(name))) {
      await call();
      expect([what, await storedState(server)]).toEqual([what, before]);
    }
  });

  test('a wrong method says which it takes', async () => {
    const answer = (await root.put(`${V1}/agents/${agent.id}`, {})).expect(405, 'METHOD_NOT_ALLOWED');
    expect(answer.headers.get('allow')).toBe('DELETE, GET, HEAD, PATCH');
    expect((await anonymous(server).get(`${V1}/execute`)).expect(405).headers.get('allow')).toBe('POST');
  });

  test('a connector says which member was meant', async () => {
    const connector = { type: 'http', method: 'GET', url: 'https://api.example.test/', timeoutSecond: 5 };
    const answer = (await root.patch(`${V1}/capabilities/web.search`, { connector })).expect(400);
    expect(answer.at('errors')).toEqual([
      { pointer: '/connector/timeoutSecond', message: 'is not known here; did you mean timeoutSeconds?' },
    ]);
  });

  test('a GET whose body narrows is refused: it would narrow nothing', async () => {
    const headers = ['authorization', `Bearer ${ROOT_KEY}`, 'content-type', 'application/json'];
    const target = `${V1}/audit`;
    const answer = await sendRaw(server.url, { method: 'GET', target, headers, body: JSON.stringify({ agentId: agent.id }) });
    expect([answer.status, (JSON.parse(answer.body) as { detail: string }).detail]).toEqual([
      400, '/agentId is a parameter of the query, not a member of the body.',
    ]);
    expect((await sendRaw(server.url, { method: 'GET', target, headers, body: '{}' })).status).toBe(200);
  });
});

describe('by Prefer: handling=lenient', () => {
  const prefer = { headers: { prefer: 'respond-async, handling=lenient' } };

  test('unknown members and parameters are ignored, and the answer says so', async () => {
    const body = { name: 'lenient', colour: 'red', grants: [{ capability: 'web.search', colour: 'red' }] };
    const made = (await root.post(`${V1}/agents?colour=red`, body, prefer)).expect(201);
    expect(made.headers.get('preference-applied')).toBe('handling=lenient');
    const [row] = await server.sql<{ text: string }>('select a::text as text from agents a where id = $1', [made.text('agent.id')]);
    expect(row!.text).not.toContain('red');
    const ran = await agent.client.post(`${V1}/execute`, { capability: 'web.search', colour: 'red' }, prefer);
    expect(ran.expect(200).headers.get('preference-applied')).toBe('handling=lenient');
    const listed = await root.get(`${V1}/agents`, { ...prefer, query: { colour: 'red', limit: 1 } });
    expect(listed.expect(200).list('agents')).toHaveLength(1);
  });

  test('what is known is checked all the same', async () => {
    (await root.post(`${V1}/agents`, { name: 5 }, prefer)).expect(400, 'VALIDATION_FAILED');
    (await agent.client.post(`${V1}/execute`, { capability: 'web.search', skipHitl: true }, prefer)).expect(403, 'FORBIDDEN');
    const wrong = await root.patch(`${V1}/organizations/${viewer.organizationId}`, { settings: { pii: { hide: true } } }, prefer);
    expect(wrong.expect(400).text('errors.0.pointer')).toBe('/settings/pii/hide');
  });

  test('without it nothing is said of it', async () => {
    const answer = (await root.get(`${V1}/agents`, { headers: { prefer: 'handling=strict' } })).expect(200);
    expect(answer.headers.get('preference-applied')).toBeNull();
  });
});
