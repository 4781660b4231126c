import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { asRoot, type Client, type Reply } from '../../support/http/actors.js';
import { anAgent, type BuiltAgent } from '../../support/builders/agents.js';
import { anOrganization, aPerson } from '../../support/builders/people.js';
import { startServer, type TestServer } from '../../support/servers/server.js';

// What is accepted and may not be what was meant.

let server: TestServer;
let root: Client;

beforeAll(async () => {
  server = await startServer();
  root = asRoot(server);
  await aPerson(server, 'admin');
});

afterAll(() => server.stop());

const grant = (body: object, to: BuiltAgent): Promise<Reply> => root.post(`/api/v1/agents/${to.id}/capabilities`, body);
const warned = async (body: object, to: BuiltAgent) => (await grant(body, to)).expect(201).list('warnings');

test('what may not be meant is said, and accepted all the same', async () => {
  const to = await anAgent(server).granted('file.write', { hitlMode: 'auto' }).create();
  const cases = [
    [{ capability: 'finance.payment', hitlMode: 'auto' }, { code: 'ALWAYS_ESCALATES', pointer: '/hitlMode' }],
    [{ capability: 'web.search', expiresAt: '2020-01-01T00:00:00Z' }, { code: 'EXPIRED', pointer: '/expiresAt' }],
    [{ capability: 'file:write', hitlMode: 'block' }, { code: 'MILDER_TWIN', pointer: '/capability' }],
  ] as const;
  for (const [body, warning] of cases) expect(await warned(body, to)).toMatchObject([warning]);
  expect((await grant({ capability: 'file:read', hitlMode: 'auto' }, to)).expect(201).body).not.toHaveProperty('warnings');
});

test('also where an agent is registered, at the place in the list', async () => {
  const grants = [{ capability: 'web.search', hitlMode: 'auto' }, { capability: 'data.delete', hitlMode: 'propose' }];
  const made = (await root.post('/api/v1/agents', { name: 'careless', grants })).expect(201);
  expect(made.list('warnings')).toMatchObject([{ code: 'ALWAYS_ESCALATES', pointer: '/grants/1/hitlMode' }]);
});

test('every one of them where an agent is registered, and none where all is as it was meant', async () => {
  const past = '2020-01-01T00:00:00Z';
  const grants = [
    { capability: 'finance.payment', hitlMode: 'auto' }, { capability: 'file.write', hitlMode: 'auto' },
    { capability: 'file:write', hitlMode: 'block' }, { capability: 'web.search', expiresAt: past },
    { capability: 'email.send', hitlMode: 'propose' },
  ];
  const made = (await root.post('/api/v1/agents', { name: 'careless', grants })).expect(201);
  const warnings = made.list('warnings') as { code: string; pointer: string; detail: string }[];
  expect(warnings.map(({ code, pointer }) => `${code} ${pointer}`)).toEqual([
    'ALWAYS_ESCALATES /grants/0/hitlMode', 'MILDER_TWIN /grants/2/capability', 'EXPIRED /grants/3/expiresAt',
    'ADMINS_ONLY /grants/4/capability',
  ]);
  for (const { detail } of warnings) expect(detail).toMatch(/^[A-Za-z].{20,}[.]$/);
  const owner = await aPerson(server, 'member');
  const owned = { name: 'careful', ownerId: owner.id, grants: [{ capability: 'email.send', hitlMode: 'propose' }] };
  expect((await root.post('/api/v1/agents', owned)).expect(201).body).not.toHaveProperty('warnings');
});

test('that an agent may come to ask is said where a condition or a limit makes it ask', async () => {
  const to = await anAgent(server).create();
  const condition = { capability: 'web.search', hitlMode: 'auto', conditions: [{ when: 'true', hitlMode: 'propose' }] };
  const limit = { capability: 'file.read', hitlMode: 'auto', limits: [{ max: 3, per: 'hour', then: 'propose' }] };
  for (const body of [condition, limit]) expect(await warned(body, to)).toMatchObject([{ code: 'ADMINS_ONLY' }]);
});

test('that nobody can answer, or not without root, is said', async () => {
  const organizationId = await anOrganization(server);
  const to = await anAgent(server).inOrganization(organizationId).create();
  expect(await warned({ capability: 'email.send', hitlMode: 'propose' }, to)).toMatchObject([{ code: 'NOBODY' }]);
  expect(await warned({ capability: 'finance.payment', hitlMode: 'escalate' }, to)).toMatchObject([{ code: 'NOBODY' }]);
  await aPerson(server, 'owner', { organizationId });
  const of2 = { capability: 'web.post', hitlMode: 'propose', quorum: { approvals: 2 } };
  expect(await warned(of2, to)).toMatchObject([{ code: 'ADMINS_ONLY' }, { code: 'ROOT_NEEDED', pointer: '/quorum/approvals' }]);
  await aPerson(server, 'admin', { organizationId });
  expect(await grant(of2, to).then((reply) => reply.expect(200).list('warnings'))).toMatchObject([{ code: 'ADMINS_ONLY' }]);
});
