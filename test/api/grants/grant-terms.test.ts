import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { asRoot, type Client, type Reply } from '../../support/http/actors.js';
import { anAgent, type BuiltAgent } from '../../support/builders/agents.js';
import { startServer, type TestServer } from '../../support/servers/server.js';
import { storedState } from '../../support/log/stored-state.js';

let server: TestServer;
let root: Client;
let agent: BuiltAgent;

beforeAll(async () => {
  server = await startServer();
  root = asRoot(server);
  agent = await anAgent(server).create();
});
afterAll(() => server.stop());

const grant = (body: object, to: BuiltAgent = agent): Promise<Reply> => root.post(`/api/v1/agents/${to.id}/capabilities`, body);
const configure = (capability: string, body: object, of: BuiltAgent = agent): Promise<Reply> =>
  root.patch(`/api/v1/agents/${of.id}/capabilities/${capability}`, body);

describe('the three-word vocabulary', () => {
  test.each([
    ['never', 'limited', 'auto'], ['never', 'unacceptable', 'auto'], ['always', 'minimal', 'propose'],
    ['always', 'high', 'propose'],
    ['on_risk', 'minimal', 'auto'], ['on_risk', 'limited', 'auto'], ['on_risk', 'high', 'propose'],
    ['on_risk', 'unacceptable', 'propose'],
  ])('%s at risk %s means %s; the word is echoed', async (hitlMode, risk, mode) => {
    const to = await anAgent(server).risk(risk).create();
    const made = (await grant({ capability: 'web.search', hitlMode }, to)).expect(201);
    expect(made.at('grant')).toMatchObject({ hitlMode, effectiveMode: mode });
  });
});

describe('hardcoded capabilities', () => {
  test.each(['phone.call', 'finance.transfer', 'finance.payment', 'system.shutdown',
    'data.delete'])('%s escalates whatever a grant says', async (capability) => {
    const to = await anAgent(server).risk('minimal').create();
    for (const hitlMode of ['auto', 'notify', 'propose', 'escalate', 'block', 'never', 'always', 'on_risk']) {
      const made = await grant({ capability, hitlMode }, to);
      expect([made.status < 300, made.at('grant')]).toMatchObject([true, { hitlMode, effectiveMode: 'escalate' }]);
    }
    const token = (await root.post(`/api/v1/agents/${to.id}/token`)).expect(200).text('token');
    (await grant({ capability, hitlMode: 'auto' }, to)).expect(200);
    const asked = (await root.with({ authorization: `Bearer ${token}` }).post('/api/v1/execute', { capability })).expect(202);
    expect(asked.body).toMatchObject({ status: 'pending_hitl', effectiveMode: 'escalate' });
  });
});

describe('what a grant may not say', () => {
  test.each<[string, object, string]>([
    ['no capability', {}, '/capability'], ['an empty capability', { capability: '' }, '/capability'],
    ['a capability that is no text', { capability: 5 }, '/capability'],
    ['an unknown mode', { capability: 'web.search', hitlMode: 'ask' }, '/hitlMode'],
    ['a mode in capitals', { capability: 'web.search', hitl_mode: 'AUTO' }, '/hitl_mode'],
    ['two modes', { capability: 'web.search', hitl_mode: 'auto', hitlMode: 'block' }, '/hitl_mode'],
    ['no time at all', { capability: 'web.search', hitl_timeout_seconds: 0 }, '/hitl_timeout_seconds'],
    ['more than 30 days', { capability: 'web.search', hitlTimeoutSeconds: 2_592_001 }, '/hitlTimeoutSeconds'],
    ['half a second', { capability: 'web.search', hitl_timeout_seconds: 0.5 }, '/hitl_timeout_seconds'],
    ['seconds as text', { capability: 'web.search', hitl_timeout_seconds: '60' }, '/hitl_timeout_seconds'],
    ['an unknown timeout action', { capability: 'web.search', hitl_timeout_action: 'ignore' }, '/hitl_timeout_action'],
    ['an unknown timeout action, in camelCase', { capability: 'email.send', hitlTimeoutAction: 'notify' }, '/hitlTimeoutAction'],
    ['an end that is no time', { capability: 'web.search', expiresAt: 'tomorrow' }, '/expiresAt'],
    ['an end on a day that is none', { capability: 'web.search', expires_at: '2027-02-30T00:00:00Z' }, '/expires_at'],
    ['an end without a zone', { capability: 'web.search', expiresAt: '2027-02-03T00:00:00' }, '/expiresAt'],
    ['limits that are no list', { capability: 'web.search', limits: { max: 1, per: 'day', then: 'block' } }, '/limits'],
    ['a limit without a most', { capability: 'web.search', limits: [{ per: 'day', then: 'block' }] }, '/limits/0/max'],
    ['a limit below nothing', { capability: 'web.search', limits: [{ max: -1, per: 'day', then: 'block' }] }, '/limits/0/max'],
    ['a limit beyond all', { capability: 'web.search', limits: [{ max: 1.1e15, per: 'day', then: 'block' }] }, '/limits/0/max'],
    ['a limit as text', { capability: 'web.search', limits: [{ max: '1', per: 'day', then: 'block' }] }, '/limits/0/max'],
    ['half a call', { capability: 'web.search', limits: [{ max: 1, per: 'day', then: 'block' },
      { max: 1.5, per: 'day', then: 'block' }] }, '/limits/1/max'],
    ['a limit per week', { capability: 'web.search', limits: [{ max: 1, per: 'week', then: 'block' }] }, '/limits/0/per'],
    ['a limit that lets all go on', { capability: 'web.search', limits: [{ max: 1, per: 'day', then: 'auto' }] }, '/limits/0/then'],
    ['a sum of nothing', { capability: 'web.search', limits: [{ max: 1, per: 'day', sum: '', then: 'block' }] }, '/limits/0/sum'],
    ['11 limits', { capability: 'web.search',
      limits: Array.from({ length: 11 }, () => ({ max: 1, per: 'day', then: 'block' })) }, '/limits'],
    ['a quorum of one', { capability: 'web.search', quorum: { approvals: 1 } }, '/quorum/approvals'],
    ['a quorum of 11', { capability: 'web.search', quorum: { approvals: 11 } }, '/quorum/approvals'],
    ['a group that is nobody\'s', { capability: 'web.search', quorum: { approvals: 2, groups: [{}] } }, '/quorum/groups/0'],
    ['a group of viewers', { capability: 'web.search', quorum: { approvals: 2, groups: [{ role: 'viewer' }] } },
      '/quorum/groups/0/role'],
    ['a reminder before the window begins', { capability: 'web.search', hitl_timeout_seconds: 60, reminders: [{ secondsBefore: 60 }] },
      '/reminders/0/secondsBefore'],
    ['4 reminders', { capability: 'web.search', reminders: [1, 2, 3, 4].map((secondsBefore) => ({ secondsBefore })) }, '/reminders'],
    ['conditions that are no list', { capability: 'web.search', conditions: {} }, '/conditions'],
    ['a condition that is none', { capability: 'web.search', conditions: ['true'] }, '/conditions'],
    ['a condition without a mode', { capability: 'web.search', conditions: [{ when: 'true' }] }, '/conditions/0/hitlMode'],
    ['a condition of a grant\'s word', { capability: 'web.search', conditions: [{ when: 'true', hitl_mode: 'never' }] },
      '/conditions/0/hitl_mode'],
    ['a long condition', { capability: 'web.search', conditions: [{ when: `true || ${'x'.repeat(1_000)}`, hitlMode: 'block' }] },
      '/conditions/0/when'],
    ['21 conditions', { capability: 'web.search',
      conditions: Array.from({ length: 21 }, () => ({ when: 'true', hitlMode: 'block' })) }, '/conditions'],
  ])('%s: 400 at its place', async (_, body, pointer) => {
    const before = await storedState(server);
    for (const refused of [await grant(body), await root.post('/api/v1/capabilities/grant', { agentId: agent.id, ...body })]) {
      refused.expect(400, 'VALIDATION_FAILED');
      expect((refused.list('errors') as { pointer: string }[]).map((error) => error.pointer)).toContain(pointer);
    }
    expect(await storedState(server)).toEqual(before);
  });

  test('time never approves what an admin, or several people, have to: 422 at its place, on each way to a grant', async () => {
    for (const more of [{ hitlMode: 'escalate' }, { hitlMode: 'propose', quorum: { approvals: 2 } }]) {
      const settings = { hitlTimeoutAction: 'approve', ...more };
      const body = { capability: 'web.search', ...settings };
      const to = await anAgent(server).granted('web.search').create();
      for (const refused of [
        await grant(body), await root.post('/api/v1/capabilities/grant', { agentId: agent.id, ...body }),
        await configure('web.search', settings, to), await root.post('/api/v1/agents', { name: 'hasty', grants: [body] }),
      ]) expect(refused.expect(422, 'TIMEOUT_ACTION_NOT_ALLOWED').text('errors.0.pointer')).toMatch(/hitlTimeoutAction$/);
    }
  });

  test('nobody, and two at once', async () => {
    for (const body of [{}, { agentId: agent.id, team_id: 'team_x' }]) {
      const refused = await root.post('/api/v1/capabilities/grant', { ...body, capability: 'web.search' });
      expect(refused.expect(400, 'VALIDATION_FAILED').text('errors.0.pointer')).toBe('/agentId');
    }
  });
});

describe('conditions', () => {
  test.each<[string, number, number]>([
    ['input.', 1, 6], ['input..amount > 1', 1, 7], ['true &&', 1, 6], ['unknown == 1', 1, 1], ['input.amount >\n foo(1)', 2, 2],
    ['"text"', 1, 1], ['input.a.matches("(")', 1, 17], ['size(input) == 1 && nothing', 1, 21],
  ])('%j cannot be used: 422 with the position', async (when, line, column) => {
    const refused = (await grant({ capability: 'file.write',
      conditions: [{ when: 'true', hitlMode: 'notify' }, { when, hitlMode: 'block' }] }))
      .expect(422, 'INVALID_CONDITION');
    expect(refused.text('errors.0.pointer')).toBe('/conditions/1/when');
    expect(refused.at('position')).toMatchObject({ line });
    // A fault at the end may be told at the last character or behind it.
    expect(Math.abs(refused.number('position.column') - column)).toBeLessThanOrEqual(1);
    expect(refused.number('position.offset')).toBeLessThanOrEqual(when.length);
    const listed = (await root.get(`/api/v1/agents/${agent.id}/capabilities`)).list('grants') as { capability: string }[];
    expect(listed.map(({ capability }) => capability)).not.toContain('file.write');
  });

  test.each([
    'input.a.all(x, input.b.all(y, x == y))', 'input.a.map(x, x).map(y, y).map(z, z) == []', 'input.a.matches(input.b)',
    'input.a.matches("^(a+)+$".replace("a", "b"))',
  ])('%.60s is refused for what it could cost', async (when) => {
    (await grant({ capability: 'file.write', conditions: [{ when, hitlMode: 'block' }] })).expect(422, 'INVALID_CONDITION');
  });

  test('only tighten, from the very next call on', async () => {
    const to = await anAgent(server).granted('web.search', { hitlMode: 'notify' }).create();
    const run = async (input: object) =>
      ((await to.client.post('/api/v1/execute', { capability: 'web.search', input })).body as { status: string }).status;
    expect(await run({ amount: 500 })).toBe('executed');
    (await configure('web.search', {
      conditions: [{ when: 'input.amount > 100', hitl_mode: 'block' }, { when: 'input.amount > 50', hitlMode: 'propose' },
        { when: 'true', hitlMode: 'auto' }],
    }, to)).expect(200);
    expect([await run({ amount: 500 }), await run({ amount: 60 }), await run({ amount: 5 })])
      .toEqual(['blocked', 'pending_hitl', 'executed']);
    // What cannot be evaluated holds.
    expect(await run({})).toBe('blocked');
    (await configure('web.search', { conditions: [] }, to)).expect(200);
    expect(await run({ amount: 500 })).toBe('executed');
  });
});
