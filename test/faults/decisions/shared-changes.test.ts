import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { asRoot, type Client, type Reply } from '../../support/http/actors.js';
import { anAgent, type BuiltAgent } from '../../support/builders/agents.js';
import { teamMates } from '../../support/builders/counting-scenario.js';
import type { DatabaseProxy } from '../../support/servers/database-proxy.js';
import { defineCapability, executionBecomes, requestOf } from '../../support/builders/gate.js';
import { aPerson, aTeam, type BuiltPerson, firstOrganization, type Role } from '../../support/builders/people.js';
import { pause } from '../../support/proofs/races.js';
import { startReceiver, type Receiver } from '../../support/http/receiver.js';
import type { TestServer } from '../../support/servers/server.js';
import { begunOn, isWaitingOn, tableHeld, twoServers, type TwoServers } from '../../support/servers/two-servers.js';
import { EXECUTE } from '../../support/http/paths.js';

// One server has a call or an approval under way when another one changes what all agents of the organization share. After the
// answer to the change nothing begins, and nobody decides, by what was before.

const GRANTS = '/api/v1/capabilities/grant';

let servers: TwoServers;
let busy: TestServer;
let other: TestServer;
let root: Client;
let home: string;
let line: DatabaseProxy;
let receiver: Receiver;

beforeAll(async () => {
  [servers, receiver] = await Promise.all([twoServers(), startReceiver()]);
  ({ busy, other, line } = servers);
  root = asRoot(other);
  home = await firstOrganization(other);
});

afterAll(async () => {
  await servers.close();
  await receiver.close();
});

const connector = (path: string) => ({ type: 'http', method: 'POST', url: new URL(path, receiver.url).href, body: '{input}' });
const approve = (by: Client, request: Reply): Promise<Reply> =>
  by.post(`/api/v1/hitl/${request.text('hitlRequestId')}/approve`, {}, { query: { wait: 0 } });

const begun = () => begunOn(other);

const isWaiting = (query: string) => isWaitingOn(other, query);

/** The change is made while the approval is on its way; its answer comes only when the approval has ended. */
async function whileUnderWay(approval: () => Promise<Reply>, change: () => Promise<Reply>): Promise<Promise<Reply>> {
  const { held, release } = line.hold('write_out_v1');
  const approved = approval();
  await held;
  try {
    const answer = change();
    expect(await Promise.race([answer.then(({ status }) => `answered ${status}`), pause(400).then(() => 'later')])).toBe('later');
    await isWaiting('pg_advisory_xact_lock(organization_barrier');
    release();
    expect((await answer).status).toBeLessThan(300);
  } finally {
    release();
  }
  return approved;
}

describe('what agents may do', () => {
  interface Right {
    readonly capability: string;
    readonly teamId: string;
    readonly grantId: string;
    readonly agent: BuiltAgent;
  }
  type Change = (right: Right) => Promise<Reply>;

  const CHANGES: [string, Change, number, string][] = [
    ['a team\'s grant is revoked', ({ grantId }) => root.delete(`${GRANTS}/${grantId}`), 403, 'CAPABILITY_NOT_GRANTED'],
    ['a team\'s grant blocks now', ({ teamId, capability }) => root.post(GRANTS, { teamId, capability, hitlMode: 'block' }),
      200, 'blocked'],
    ['the input schema is another', ({ capability }) =>
      root.patch(`/api/v1/capabilities/${capability}`, { inputSchema: { type: 'object', required: ['more'] } }), 422, 'INVALID_INPUT'],
    ['the connector is another', ({ capability }) =>
      root.patch(`/api/v1/capabilities/${capability}`, { connector: connector('/new') }), 200, 'executed'],
  ];

  let made = 0;

  /** Its calls go to the busy server. */
  async function aRight(hitlMode: string): Promise<Right> {
    const capability = `crm.push${++made}`;
    await defineCapability(other, capability, { connector: connector('/old') });
    const teamId = await aTeam(other, home);
    const grantId = (await root.post(GRANTS, { teamId, capability, hitlMode })).expect(201).text('grant.id');
    const [agent] = await teamMates(busy, teamId, 1);
    return { capability, teamId, grantId, agent: agent! };
  }

  const call = ({ agent, capability }: Right) =>
    agent.client.post<{ status: unknown; code?: unknown }>(EXECUTE, { capability, input: { n: 1 } });
  const sentToTheOld = () => receiver.requests.filter(({ path }) => path === '/old').length;

  test.each(CHANGES)('%s when a call was decided, and not committed: it is decided again', async (_name, change, status, word) => {
    const right = await aRight('auto');
    const [before, sent] = [await begun(), sentToTheOld()];
    const { held, release } = line.hold('gate-commit-');
    const called = call(right);
    await held;
    expect((await change(right).finally(release)).status).toBeLessThan(300);
    const reply = await called;
    expect([reply.status, reply.body.code ?? reply.body.status]).toEqual([status, word]);
    expect((await begun()).length - before.length).toBe(word === 'executed' ? 1 : 0);
    expect(sentToTheOld()).toBe(sent);
  });

  test.each(CHANGES)('%s when a call is just committing: the answer waits for it', async (_name, change, status, word) => {
    const right = await aRight('auto');
    // Whoever commits an execution waits here, past its comparison and with its locks.
    const inTheWay = await tableHeld(other, 'executions', 'share');
    const called = call(right);
    await isWaiting('gate_commit');
    const changed = change(right);
    expect(await Promise.race([changed.then(({ status }) => `answered ${status}`), pause(400).then(() => 'later')])).toBe('later');
    await inTheWay.release();
    expect((await changed).status).toBeLessThan(300);
    const atTheAnswer = await begun();
    expect([200, status]).toContain((await called).status);
    await pause(300);
    expect(await begun()).toEqual(atTheAnswer);
    const next = await call(right);
    expect([next.status, next.body.code ?? next.body.status]).toEqual([status, word]);
  });

  test.each(CHANGES)('%s when an approval is under way: the answer waits, and its action does not begin', async (_name, change) => {
    const right = await aRight('propose');
    const request = (await call(right)).expect(202) as Reply;
    const [before, sent] = [await begun(), sentToTheOld()];
    const approval = await whileUnderWay(() => approve(asRoot(busy), request), () => change(right));
    approval.expect(200);
    await executionBecomes(other, request.text('executionId'), 'cancelled');
    expect(await begun()).toEqual(before);
    expect(sentToTheOld()).toBe(sent);
  });
});

test('a server is frozen in the middle of a change: it does not count, and calls are decided within their time', async () => {
  const agent = await anAgent(other).granted('web.search').create();
  const { held, release } = line.hold('admin.organization_updated');
  const changed = asRoot(busy).patch(`/api/v1/organizations/${home}`, { name: 'Frozen' });
  await held;
  try {
    (await agent.client.post(EXECUTE, { capability: 'web.search' })).expect(200);
  } finally {
    release();
  }
  (await changed).expect(503);
  expect(await other.sql(`select 1 from organizations where name = 'Frozen'`)).toEqual([]);
});

describe('who may decide', () => {
  interface Decision {
    readonly decider: BuiltPerson;
    readonly teamId: string;
  }

  // Where there is nobody else, everybody may.
  beforeAll(async () => void (await aPerson(other, 'admin')));

  const separation = (separationOfDuties: string) => root.patch(`/api/v1/organizations/${home}`, { settings: { separationOfDuties } });

  test.each<[string, Role, (decision: Decision) => Promise<Reply>, number, string]>([
    ['separation of duties is strict now', 'admin', () => separation('strict'), 403, 'SELF_APPROVAL'],
    ['their role is lowered', 'admin', ({ decider }) => root.patch(`/api/v1/users/${decider.id}`, { role: 'viewer' }), 403, 'FORBIDDEN'],
    ['their account is closed', 'admin', ({ decider }) => root.delete(`/api/v1/users/${decider.id}`), 401, 'UNAUTHENTICATED'],
    ['their key is revoked', 'admin', ({ decider }) => root.delete(`/api/v1/users/${decider.id}/keys/${decider.keyId}`),
      401, 'UNAUTHENTICATED'],
    ['they leave the team', 'member', ({ decider, teamId }) => root.delete(`/api/v1/teams/${teamId}/members/${decider.id}`),
      403, 'NOT_ELIGIBLE'],
  ])('%s while an approval is under way: the answer waits, and the next one is refused', async (_name, role, change, status, code) => {
    const decider = await aPerson(busy, role);
    const teamId = await aTeam(other, home, [{ userId: decider.id }]);
    // Owned by an admin who decides; a member decides as one of the team.
    const ties = role === 'admin' ? { ownerId: decider.id } : { teamId };
    const agent = await anAgent(other).granted('email.send', { hitlMode: 'propose' }).having(ties).create();
    const ask = async () => (await agent.client.post(EXECUTE, { capability: 'email.send' })).expect(202);
    const [first, second] = [await ask(), await ask()];
    try {
      const approval = await whileUnderWay(() => approve(decider.client, first), () => change({ decider, teamId }));
      approval.expect(200);
      expect(await requestOf(other, first.text('hitlRequestId'))).toMatchObject({ status: 'approved', decided_by: decider.id });
      (await approve(decider.client, second)).expect(status, code);
      expect(await requestOf(other, second.text('hitlRequestId'))).toMatchObject({ status: 'pending', decided_by: null });
    } finally {
      (await separation('standard')).expect(200);
    }
  });
});
