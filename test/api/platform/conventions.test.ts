import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { anonymous, as, asRoot, type Client, type Reply } from '../../support/http/actors.js';
import type { AuditEntry } from '../../support/log/entries.js';
import { anAgent, type BuiltAgent } from '../../support/builders/agents.js';
import { eventually } from '../../support/running/eventually.js';
import { startServer, type TestServer } from '../../support/servers/server.js';

let server: TestServer;
let root: Client;
let agent: BuiltAgent;

beforeAll(async () => {
  server = await startServer();
  root = asRoot(server);
  agent = await anAgent(server).granted('web.search').granted('email.send', { hitlMode: 'propose' }).create();
});
afterAll(() => server.stop());

const ask = async () => (await agent.client.post('/api/v1/execute', { capability: 'email.send', input: { to: 'a' } })).expect(202)
  .text('hitlRequestId');

describe('casing, in', () => {
  test('either spelling, or both alike', async () => {
    for (const body of [{ riskLevel: 'high' }, { risk_level: 'high' }, { riskLevel: 'high', risk_level: 'high' }]) {
      expect((await root.post('/api/v1/agents', { name: 'spelt', ...body })).expect(201).text('agent.riskLevel')).toBe('high');
    }
    for (const query of ['riskLevel=minimal', 'risk_level=minimal', 'riskLevel=minimal&risk_level=minimal']) {
      expect((await root.get(`/api/v1/agents?${query}`)).expect(200).number('total')).toBe(0);
    }
  });

  test('two spellings that differ are refused, at the one that came to it', async () => {
    const refused = (await root.post('/api/v1/agents', { name: 'spelt', riskLevel: 'high', risk_level: 'minimal' }))
      .expect(400, 'VALIDATION_FAILED');
    expect(refused.text('errors.0.pointer')).toBe('/risk_level');
    (await root.get('/api/v1/agents?riskLevel=high&risk_level=minimal')).expect(400, 'VALIDATION_FAILED');
    (await root.get('/api/v1/audit?event=a&event_type=b')).expect(400, 'VALIDATION_FAILED');
    (await agent.client.post('/api/v1/execute', { capability: 'web.search', input: { a: 1 }, payload: { a: 2 } }))
      .expect(400, 'VALIDATION_FAILED');
    (await root.post('/api/v1/execute', { capability: 'web.search', agentId: agent.id, agent_id: 'agt_x' }))
      .expect(400, 'VALIDATION_FAILED');
    (await agent.client.post('/api/v1/execute', { capability: 'web.search', dryRun: true, dry_run: false }))
      .expect(400, 'VALIDATION_FAILED');
  });

  test('by each name that the interface gives: note, comment, reason; input, payload; event_type, event', async () => {
    for (const name of ['note', 'comment', 'reason']) {
      const id = await ask();
      expect((await root.post(`/api/v1/hitl/${id}/reject`, { [name]: `said as ${name}` })).expect(200).text('request.comment'))
        .toBe(`said as ${name}`);
    }
    (await root.post(`/api/v1/hitl/${await ask()}/reject`, { note: 'a', comment: 'b' })).expect(400, 'VALIDATION_FAILED');
    for (const [path, name] of [['execute', 'input'], ['execute', 'payload'], ['hitl', 'input'], ['hitl', 'payload']] as const) {
      const made = await agent.client.post(`/api/v1/${path}`, { capability: 'email.send', [name]: { by: name } });
      const id = path === 'hitl' ? made.expect(201).text('request.id') : made.expect(202).text('hitlRequestId');
      expect((await root.get(`/api/v1/hitl/${id}`)).expect(200).at('input')).toEqual({ by: name });
    }
    for (const name of ['event', 'event_type', 'eventType']) {
      const found = (await root.get('/api/v1/audit', { query: { [name]: 'agent.registered' } })).expect(200);
      expect(new Set((found.list('entries') as AuditEntry[]).map(({ event }) => event))).toEqual(new Set(['agent.registered']));
    }
  });

  test('faults are pointed at by the name that was used', async () => {
    for (const [body, pointer] of [
      [{ capability: 'web.search', dry_run: 'yes' }, '/dry_run'], [{ capability: 'web.search', dryRun: 'yes' }, '/dryRun'],
      [{ capability: 'web.search', payload: [] }, '/payload'], [{ capability: 'web.search', agent_id: 5 }, '/agent_id'],
      [{ capability: 5 }, '/capability'],
      [{ capability: 'web.search', context: 'x' }, '/context'], [{ capability: 'web.search', action: 5 }, '/action'],
      [{ capability: 'web.search', input: null }, '/input'],
    ] as const) {
      const refused = (await root.post('/api/v1/execute',
        { agentId: agent.id, ...body, ...('agent_id' in body ? { agentId: undefined } : {}) })).expect(400);
      expect((refused.list('errors') as { pointer: string }[]).map((error) => error.pointer)).toEqual([pointer]);
    }
  });
});

describe('casing, out', () => {
  const namesIn = (value: unknown): string[] => {
    if (Array.isArray(value)) return value.flatMap(namesIn);
    if (typeof value !== 'object' || value === null) return [];
    return Object.entries(value).flatMap(([name, inner]) => [name,
      ...(/^(input|payload|context|metadata)$/.test(name) ? [] : namesIn(inner))]);
  };

  test('camelCase, but for the two members of a grant', async () => {
    await agent.client.post('/api/v1/execute', { capability: 'web.search' });
    await ask();
    for (const path of ['agents', 'executions', 'hitl', 'audit', 'capabilities', 'capabilities/grants',
      `agents/${agent.id}/capabilities`]) {
      const names = namesIn((await root.get(`/api/v1/${path}`)).expect(200).body);
      expect(names.length).toBeGreaterThan(5);
      const snake = [...new Set(names.filter((name) => name.includes('_')))].sort();
      expect([path, snake]).toEqual([path,
        /capabilities$|grants$/.test(path) && path !== 'capabilities' ? ['hitl_timeout_action', 'hitl_timeout_seconds'] : []]);
    }
  });

  test('GET /hitl/:id in snake_case, every member; ?form chooses the other', async () => {
    const id = await ask();
    const snake = (await root.get(`/api/v1/hitl/${id}`)).expect(200);
    expect(namesIn(snake.body).filter((name) => /[A-Z]/.test(name))).toEqual([]);
    expect(snake.body).toMatchObject({ id, agent_id: agent.id, status: 'pending', escalation_level: 0, decision: null,
      decided_by: null });
    const camel = (await root.get(`/api/v1/hitl/${id}?form=camel`)).expect(200);
    expect(namesIn(camel.body).filter((name) => name.includes('_'))).toEqual([]);
    const list = (await root.get('/api/v1/hitl?form=snake')).expect(200);
    expect(namesIn(list.at('requests')).filter((name) => /[A-Z]/.test(name))).toEqual([]);
    (await root.get(`/api/v1/hitl/${id}?form=kebab`)).expect(400, 'VALIDATION_FAILED');
  });
});

describe('pages', () => {
  test.each(['agents', 'executions', 'hitl', 'audit', 'teams',
    'capabilities/grants'])('of %s: limit, offset and cursor walk the same list, newest first', async (path) => {
    for (let more = 0; more < 7; more++) {
      const extra = await anAgent(server).granted('web.search').granted('email.send', { hitlMode: 'propose' }).create();
      (await extra.client.post('/api/v1/execute', { capability: more % 2 ? 'web.search' : 'email.send' }))
        .expect(more % 2 ? 200 : 202);
      (await root.post('/api/v1/teams', { name: `team ${more}` })).expect(201);
    }
    const member = path.split('/').at(-1) ?? '';
    const read = async (query: string) => {
      const page = (await root.get(`/api/v1/${path}?${query}`)).expect(200);
      return { ids: (page.list(member === 'audit' ? 'entries' : member === 'hitl' ? 'requests' : member) as { id: string }[])
        .map(({ id }) => id), page };
    };
    const whole = await read('limit=500');
    expect(whole.ids).toEqual([...whole.ids].sort().reverse());
    expect(whole.page.number('total')).toBe(whole.ids.length);
    expect(whole.page.body).not.toHaveProperty('nextCursor');
    expect((await read('limit=3&offset=2')).ids).toEqual(whole.ids.slice(2, 5));
    expect((await read('limit=3&offset=9999')).ids).toEqual([]);
    const walked: string[] = [];
    for (let cursor = ''; ; ) {
      const { ids, page } = await read(`limit=3${cursor}`);
      walked.push(...ids);
      expect(ids.length).toBeLessThanOrEqual(3);
      const next = (page.body as { nextCursor?: string }).nextCursor;
      if (next === undefined) break;
      cursor = `&cursor=${next}`;
    }
    expect(walked).toEqual(whole.ids);
  });

  test('a cursor holds its place while things are added in front', async () => {
    const first = (await root.get('/api/v1/agents?limit=2')).expect(200);
    await anAgent(server).create();
    const second = (await root.get('/api/v1/agents', { query: { limit: 2, cursor: first.text('nextCursor') } })).expect(200);
    const ids = [...first.list('agents'), ...second.list('agents')].map((one) => (one as { id: string }).id);
    expect(new Set(ids).size).toBe(4);
  });

  test.each([
    'limit=0', 'limit=-1', 'limit=501', 'limit=1.5', 'limit=x', 'limit=', 'limit=1e2', 'limit=0x10', 'limit=99999999999999999999',
    'limit=1&limit=2', 'offset=-1',
    'offset=10001', 'offset=x', 'cursor=', 'cursor=x', 'cursor=%00', 'cursor=W10', 'cursor=WyJhIiwiYiJd', 'cursor=bnVsbA',
    'cursor=WzFd', 'cursor=WyJhIl0%3D',
    `cursor=${'A'.repeat(600)}`, 'cursor=WyJhIl0&offset=1', 'limit=%ff', '%ff=1',
  ])('?%s is refused where it means something', async (query) => {
    for (const path of ['agents', 'executions', 'hitl', 'audit', 'teams', 'capabilities/grants', `agents/${agent.id}/capabilities`]) {
      (await root.get(`/api/v1/${path}?${query}`)).expect(400, 'VALIDATION_FAILED');
    }
  });
});

describe('tracing', () => {
  test('an X-Request-Id that is fit is taken, echoed, and stands in problems; entries have a digest of it', async () => {
    const id = 'my-Request_id-0123456789';
    const digest = createHash('sha256').update(id).digest('hex').slice(0, 16);
    const made = (await root.post('/api/v1/agents', { name: 'traced' }, { headers: { 'x-request-id': id } })).expect(201);
    expect(made.headers.get('x-request-id')).toBe(id);
    const entries = (await root.get('/api/v1/audit', { query: { agentId: made.text('agent.id') } }))
      .list('entries') as { origin: unknown }[];
    expect(entries.length).toBeGreaterThan(0);
    for (const { origin } of entries) expect(origin).toMatchObject({ requestId: digest, via: 'rest' });
    const refused = (await root.get('/api/v1/agents/none', { headers: { 'x-request-id': id } })).expect(404);
    expect([refused.text('requestId'), refused.headers.get('x-request-id')]).toEqual([id, id]);
  });

  test('what a caller calls a request by stands in no entry, nor in any other row, whether they come in or not', async () => {
    const headers = { 'x-request-id': 'alice_liddell' };
    const digest = createHash('sha256').update('alice_liddell').digest('hex').slice(0, 16);
    await agent.client.post('/api/v1/execute', { capability: 'web.search', input: {} }, { headers });
    (await as(server, `${agent.token}x`).get('/api/v1/agents', { headers })).expect(401);
    await eventually(async () => {
      const reported = await server.sql<{ event: string }>(
        `select event from audit_entries where payload like $1`, [`%"requestId":"${digest}"%`]);
      expect(reported.map(({ event }) => event)).toEqual(expect.arrayContaining(['auth.failed']));
      expect(reported.length).toBeGreaterThan(1);
    });
    const columns = await server.sql<{ t: string; c: string }>(`select table_name as t, column_name as c from information_schema.columns
      where table_schema = 'public' and data_type in ('text', 'json', 'jsonb', 'ARRAY')`);
    for (const { t, c } of columns) {
      expect([t, c, await server.sql(`select 1 from "${t}" where "${c}"::text like '%alice_liddell%'`)]).toEqual([t, c, []]);
    }
  });

  test.each(['', 'short', 'x'.repeat(65), 'with blanks in it', '<script>alert(1)</script>', '../../etc/passwd',
    'a;b=c;d=e;f'])('an X-Request-Id like %j is replaced', async (text) => {
    const { headers } = (await root.get('/api/v1/agents', { headers: { 'x-request-id': text } })).expect(200);
    expect(headers.get('x-request-id')).not.toBe(text);
    expect(headers.get('x-request-id')).toMatch(/^[A-Za-z0-9_-]{8,64}$/);
  });

  test('two requests without one have ids of their own', async () => {
    const ids = await Promise.all([1, 2,
      3].map(async () => (await anonymous(server).get('/health')).headers.get('x-request-id')));
    expect(new Set(ids).size).toBe(3);
  });

  test('a traceparent\'s trace stands on entries; a malformed one is dropped', async () => {
    const trace = '0af7651916cd43dd8448eb211c80319c';
    for (const [traceparent, wanted] of [[`00-${trace}-b7ad6b7169203331-01`, trace],
      [`00-${trace}-0000000000000000-01`, undefined], ['nonsense', undefined]] as const) {
      const ran = (await agent.client.post('/api/v1/execute', { capability: 'web.search' }, { headers: { traceparent } }))
        .expect(200).text('executionId');
      const entries = (await root.get('/api/v1/audit?event=execution.started&limit=5'))
        .list('entries') as { metadata: { executionId: string }; origin?: { traceId?: string } }[];
      expect(entries.find(({ metadata }) => metadata.executionId === ran)?.origin?.traceId).toBe(wanted);
    }
  });
});

describe('problems', () => {
  test.each<[string, () => Promise<Reply>, number, string]>([
    ['no credential', () => anonymous(server).get('/api/v1/agents'), 401, 'UNAUTHENTICATED'],
    ['not allowed', () => agent.client.get('/api/v1/audit'), 403, 'FORBIDDEN'],
    ['not there', () => root.get('/api/v1/agents/agt_00000000000000000000000000absent0000/capabilities?limit=1'), 404, 'NOT_FOUND'],
    ['no such route', () => root.get('/api/v1/nothing'), 404, 'NOT_FOUND'],
    ['not valid', () => root.post('/api/v1/agents', {}), 400, 'VALIDATION_FAILED'],
    ['too large', () => root.post('/api/v1/agents', { name: 'x'.repeat(300_000) }), 413, 'BODY_TOO_LARGE'],
    ['not JSON', () => root.post('/api/v1/agents', undefined,
      { raw: 'name=x', headers: { 'content-type': 'application/x-www-form-urlencoded' } }), 415, 'UNSUPPORTED_MEDIA_TYPE'],
    ['conflict', () => root.delete('/api/v1/capabilities/web.search'), 409, 'CONFLICT'],
    ['hardcoded', () => root.patch('/api/v1/capabilities/phone.call', { defaultHitlMode: 'auto' }), 422, 'HARDCODED_CAPABILITY'],
  ])('%s: one shape', async (_, call, status, code) => {
    const refused = (await call()).expect(status, code);
    const { errors, ...rest } = refused.body as Record<string, unknown>;
    expect(refused.headers.get('content-type')).toMatch(/^application\/problem\+json/);
    expect(refused.headers.get('cache-control')).toBe('no-store');
    expect(rest).toEqual({
      type: expect.any(String), title: expect.any(String), status, detail: expect.any(String),
      instance: expect.stringMatching(/^\/api\/v1\/[^?]+$/), code,
      requestId: refused.headers.get('x-request-id'),
    });
    if (status === 400) expect(errors).toEqual([{ pointer: '/name', message: expect.any(String) }]);
    // The page that explains the code is really there.
    const page = (await anonymous(server).get(String(rest.type))).expect(200);
    expect(String(page.body)).toContain(`id="${String(rest.type).split('#')[1]}"`);
  });

  test('every status and code that a route may answer is documented with it', async () => {
    const document = (await anonymous(server).get('/openapi.json')).expect(200).at('paths') as Record<string, Record<string,
    { responses: Record<string, { description: string }> }>>;
    const reported = (path: string, method: string, status: number) => document[path]?.[method]?.responses[status]?.description ?? '';
    expect(reported('/api/v1/agents', 'post', 422)).toContain('INVALID_CONDITION');
    for (const path of ['/api/v1/execute', '/api/v1/executions']) {
      expect([path, reported(path, 'post', 422)]).toEqual([path, expect.stringContaining('INVALID_INPUT')]);
      expect([path, reported(path, 'post', 403)]).toEqual([path, expect.stringContaining('CAPABILITY_NOT_GRANTED')]);
      expect([path, reported(path, 'post', 409)]).toEqual([path, expect.stringContaining('IDEMPOTENCY_IN_FLIGHT')]);
    }
    for (const path of ['/api/v1/capabilities/grant', '/api/v1/agents/{id}/capabilities']) {
      expect([path, reported(path, 'post', 422)]).toEqual([path, expect.stringContaining('INVALID_CONDITION')]);
    }
    // Both find the agent or the capability missing by what the body says.
    expect(reported('/api/v1/capabilities/grant', 'post', 404)).toContain('NOT_FOUND');
    expect(reported('/api/v1/agents', 'post', 404)).toContain('NOT_FOUND');
    // These by what the query names, and the page where there is no build of it.
    for (const path of ['/api/v1/audit/verify', '/api/v1/audit/export', '/api/v1/audit/verifier']) {
      expect([path, reported(path, 'get', 404)]).toEqual([path, expect.stringContaining('NOT_FOUND')]);
    }
  });
});

