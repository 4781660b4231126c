import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { asRoot, type Client } from '../../support/http/actors.js';
import { auditOf } from '../../support/log/entries.js';
import { anAgent, type BuiltAgent } from '../../support/builders/agents.js';
import { anOrganization, aPerson, aTeam, type BuiltPerson, firstOrganization } from '../../support/builders/people.js';
import { startServer, type TestServer } from '../../support/servers/server.js';

const CAPABILITY = 'email.send';

let server: TestServer;
let root: Client;
let owner: BuiltPerson;

beforeAll(async () => {
  server = await startServer();
  root = asRoot(server);
  // As many as the largest quorum asks for, root besides.
  for (let n = 0; n < 9; n++) await aPerson(server, 'admin');
  owner = await aPerson(server, 'owner');
});

afterAll(() => server.stop());

const grant = (agent: BuiltAgent, terms: object) =>
  root.post(`/api/v1/agents/${agent.id}/capabilities`, { capability: CAPABILITY, hitlMode: 'propose', ...terms });
const configure = (agent: BuiltAgent, terms: object) => root.patch(`/api/v1/agents/${agent.id}/capabilities/${CAPABILITY}`, terms);
const shown = async (agent: BuiltAgent) => (await root.get(`/api/v1/agents/${agent.id}/capabilities`)).expect(200).at('grants.0');

describe('a grant that asks several people', () => {
  test('keeps and shows what was said, tells the log, keeps what is left out and forgets what is null', async () => {
    const agent = await anAgent(server).create();
    const teamId = await aTeam(server, await firstOrganization(server), [{ userId: owner.id }]);
    const quorum = { approvals: 2, groups: [{ teamId }, { role: 'admin' }] };
    const reminders = [{ secondsBefore: 300 }, { secondsBefore: 60, escalate: true }];
    const made = (await grant(agent, { quorum: { ...quorum, groups: [{ team_id: teamId }, { role: 'admin' }] },
      reminders: [{ seconds_before: 300 }, reminders[1]] })).expect(201);
    expect(made.at('grant')).toMatchObject({ quorum, reminders });
    expect(await shown(agent)).toMatchObject({ quorum, reminders });
    expect((await auditOf(server, agent.id)).find(({ event }) => event === 'capability.granted'))
      .toMatchObject({ metadata: { quorum, reminders } });
    (await configure(agent, { quorum: { approvals: 10 } })).expect(200);
    expect(await shown(agent)).toMatchObject({ quorum: { ...quorum, approvals: 10 }, reminders });
    (await configure(agent, { quorum: null, reminders: [] })).expect(200);
    for (const member of ['quorum', 'reminders']) expect(await shown(agent)).not.toHaveProperty(member);
    (await configure(agent, { quorum, reminders })).expect(200);
    (await grant(agent, {})).expect(200);
    expect(await shown(agent)).toMatchObject({ quorum, reminders });
    (await grant(agent, { quorum: null, reminders: null })).expect(200);
    for (const member of ['quorum', 'reminders']) expect(await shown(agent)).not.toHaveProperty(member);
  });

  test('a group is a team of this organization or a role, not both', async () => {
    const agent = await anAgent(server).create();
    const here = await aTeam(server, await firstOrganization(server), [{ userId: owner.id }]);
    const foreign = await aTeam(server, await anOrganization(server));
    const cases = [
      [422, 'TARGET_NOT_ELIGIBLE', { teamId: foreign }], [422, 'TARGET_NOT_ELIGIBLE', { teamId: 'team_none' }],
      [400, 'VALIDATION_FAILED', { teamId: here, role: 'admin' }], [400, 'VALIDATION_FAILED', {}],
      [400, 'VALIDATION_FAILED', { role: 'agent' }],
    ] as const;
    for (const [status, code, group] of cases) {
      const groups = [{ role: 'owner' }, group];
      const refused = (await grant(agent, { quorum: { approvals: 2, groups } })).expect(status, code);
      expect(refused.text('errors.0.pointer')).toMatch(/^\/quorum\/groups\/1/);
    }
    expect((await root.get(`/api/v1/agents/${agent.id}/capabilities`)).list('grants')).toEqual([]);
  });

  test('is never approved by time, in whichever order the two are said', async () => {
    const [both, first, last] = [await anAgent(server).create(), await anAgent(server).create(), await anAgent(server).create()];
    const quorum = { approvals: 2 };
    (await grant(both, { quorum, hitlTimeoutAction: 'approve' })).expect(422, 'TIMEOUT_ACTION_NOT_ALLOWED');
    (await grant(first, { quorum })).expect(201);
    (await configure(first, { hitlTimeoutAction: 'approve' })).expect(422, 'TIMEOUT_ACTION_NOT_ALLOWED');
    (await grant(last, { hitlTimeoutAction: 'approve' })).expect(201);
    (await configure(last, { quorum })).expect(422, 'TIMEOUT_ACTION_NOT_ALLOWED');
    (await configure(last, { quorum, hitlTimeoutAction: 'escalate' })).expect(200);
    expect(await shown(last)).toMatchObject({ quorum, hitl_timeout_action: 'escalate' });
  });

  test('reminds within its window only', async () => {
    const agent = await anAgent(server).create();
    (await grant(agent, { hitlTimeoutSeconds: 60, reminders: [{ secondsBefore: 59 }] })).expect(201);
    const refused = (await configure(agent, { hitlTimeoutSeconds: 59 })).expect(400, 'VALIDATION_FAILED');
    expect(refused.text('errors.0.pointer')).toBe('/reminders/0/secondsBefore');
  });
});
