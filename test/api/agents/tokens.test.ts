import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { keyIdOf } from '../../../src/platform/secrets/fingerprint.js';
import { asAgent, asRoot, type Reply } from '../../support/http/actors.js';
import { claimsOf, signToken, type Claims } from '../../support/builders/agent-token.js';
import { auditOf, eventsOf } from '../../support/log/entries.js';
import { goodBody } from '../../support/routes/bad-bodies.js';
import { anAgent, type BuiltAgent } from '../../support/builders/agents.js';
import { isPublic, pathOf, routesOf } from '../../support/routes/routes.js';
import { startServer, type TestServer } from '../../support/servers/server.js';
import { JWT_SECRET } from '../../support/servers/test-run.js';
import { storedState } from '../../support/log/stored-state.js';
import { times } from '../../support/running/whole-form.js';
import { mutationsOf } from './token-mutations.js';

/** A mutated token is tried on every so manieth route. */
const EACH_AT = times(60, 20);

let server: TestServer;

beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

const now = () => Math.floor(Date.now() / 1000);
const refresh = (agent: BuiltAgent, token = agent.token, body?: unknown): Promise<Reply> =>
  asAgent(server, token).post(`/api/v1/agents/${agent.id}/token/refresh`, body);
const capabilitiesIn = (token: string) => (claimsOf(token).capabilities as string[]).sort();

async function works(token: string, at = server): Promise<boolean> {
  const answer = await asAgent(at, token).get('/api/v1/capabilities');
  if (answer.status !== 200) answer.expect(401, 'UNAUTHENTICATED');
  return answer.status === 200;
}

describe('claims', () => {
  test('a new token says whose it is, what it holds, for how long, and who vouches', async () => {
    const before = now();
    const registered = (await asRoot(server).post('/api/v1/agents', {
      name: 'claimant', grants: [{ capability: 'web.search' }, { capability: 'email.send' }],
    })).expect(201);
    const claims = claimsOf(registered.text('token'));
    const id = registered.text('agent.id');
    expect(claims).toMatchObject({ sub: id, agent_id: id, org_id: registered.text('agent.organizationId'), epoch: 0,
      vch: 'root' });
    expect(capabilitiesIn(registered.text('token'))).toEqual(['email.send', 'web.search']);
    expect(Number(claims.exp) - Number(claims.iat)).toBe(3_600);
    expect(Number(claims.iat)).toBeGreaterThanOrEqual(before);
    expect(Number(claims.iat)).toBeLessThanOrEqual(now());
    expect(claims.auth_time).toBe(claims.iat);
    expect(Date.parse(registered.text('expiresAt'))).toBe(Number(claims.exp) * 1000);
    for (const name of ['iss', 'aud', 'jti']) expect(typeof claims[name]).toBe('string');
    expect(claims).not.toHaveProperty('tenant_id');
    const header = JSON.parse(Buffer.from(registered.text('token').split('.')[0] ?? '', 'base64url').toString()) as unknown;
    expect(header).toEqual({ alg: 'HS256', typ: 'JWT', kid: keyIdOf(JWT_SECRET) });
  });

  test('each token has an id of its own, and its issue is an entry without the token', async () => {
    const agent = await anAgent(server).create();
    const again = (await asRoot(server).post(`/api/v1/agents/${agent.id}/token`)).expect(200).text('token');
    expect(claimsOf(again).jti).not.toBe(claimsOf(agent.token).jti);
    const issued = (await auditOf(server, agent.id)).filter(({ event }) => event === 'auth.agent_jwt_issued');
    expect(issued.map(({ metadata }) => metadata.jti)).toEqual([claimsOf(agent.token).jti, claimsOf(again).jti]);
    expect(JSON.stringify(await auditOf(server, agent.id))).not.toContain(agent.token.split('.')[2]);
  });

  test('a token of the interface\'s claims alone is good', async () => {
    const agent = await anAgent(server).granted('web.search').create();
    const { sub, agent_id, org_id, capabilities, iat, exp } = claimsOf(agent.token);
    const plain = signToken({ sub, agent_id, org_id, capabilities, iat, exp });
    expect(await works(plain)).toBe(true);
    (await asAgent(server, plain).post('/api/v1/execute', { capability: 'web.search' })).expect(200);
    // Without an epoch it counts as 0, which is over once tokens were ended.
    (await asRoot(server).delete(`/api/v1/agents/${agent.id}/tokens`)).expect(204);
    expect(await works(plain)).toBe(false);
  });

  test.each<[string, () => Claims]>([
    ['issued 20 seconds ahead', () => ({ iat: now() + 20, exp: now() + 600 })],
    ['lives exactly a day', () => ({ iat: now(), exp: now() + 86_400 })],
    ['carries claims that nobody asked for', () => ({ name: 'x', roles: ['admin'], scope: '*' })],
  ])('a token that %s is good', async (_, change) => {
    const agent = await anAgent(server).create();
    expect(await works(signToken({ ...claimsOf(agent.token), ...change() }))).toBe(true);
  });

  test('claims beyond the interface\'s give nothing', async () => {
    const agent = await anAgent(server).create();
    const bold = signToken({ ...claimsOf(agent.token), role: 'owner', roles: ['root'], scope: '*', admin: true, kind: 'root' });
    (await asAgent(server, bold).post('/api/v1/agents', { name: 'x' })).expect(403, 'FORBIDDEN');
  });

  test('a capability in the token without a grant gives nothing, and is recorded as blocked', async () => {
    const agent = await anAgent(server).create();
    const bold = signToken({ ...claimsOf(agent.token), capabilities: ['web.search', '*'] });
    (await asAgent(server, bold).post('/api/v1/execute', { capability: 'web.search' })).expect(403, 'CAPABILITY_NOT_GRANTED');
    expect(await eventsOf(server, agent.id)).toContain('execution.blocked');
  });

  test('a token dies the moment it expires', async () => {
    const agent = await anAgent(server).create();
    const brief = signToken({ ...claimsOf(agent.token), exp: now() + 2 });
    expect(await works(brief)).toBe(true);
    await new Promise((resolve) => setTimeout(resolve, 2_100));
    expect(await works(brief)).toBe(false);
  });
});

describe('mutated tokens', () => {
  test('not one of some hundreds is taken, on whatever route, and nothing is stored', async () => {
    const agent = await anAgent(server).granted('web.search').granted('email.send', { hitlMode: 'propose' }).create();
    const stranger = await anAgent(server).granted('email.send').create();
    // The corpus is worth something only if the same way of making tokens makes good ones.
    expect(await works(signToken(claimsOf(agent.token)))).toBe(true);
    const mutations = mutationsOf(agent.token, stranger.token);
    expect(new Set(mutations.map(({ token }) => token)).size).toBeGreaterThanOrEqual(200);
    for (const what of [/^alg .*none/i, /^signature, /, /^header kid/, /^header jku/, / twice/, /blank/, /tab/, /^tenant_id/, /^agent_id/,
      /^epoch/, /^auth_time/, /^vch/, /^jti/, /^exp/, /^iat/, /^sub/, /^org_id/, /^capabilities/, /^iss/, /^aud/]) {
      expect([what, mutations.some((one) => what.test(one.what))]).toEqual([what, true]);
    }
    const ids = {
      agents: agent.id,
      executions: (await agent.client.post('/api/v1/execute', { capability: 'web.search' })).expect(200).text('executionId'),
      hitl: (await agent.client.post('/api/v1/execute', { capability: 'email.send' })).expect(202).text('hitlRequestId'),
    };
    const routes = (await routesOf(server)).filter((route) => !isPublic(route));
    const targets = routes.map((route) => ({
      route, path: pathOf(route, ids), body: route.takesBody ? goodBody(route, { agentId: agent.id }) : undefined,
    }));
    const before = await storedState(server);
    const taken: string[] = [];
    let calls = 0;
    // Each at a part of the routes and each route with a part of them: one guard reads all tokens.
    const attempts = mutations.flatMap((mutation, n) =>
      targets.filter((_target, m) => (n + m) % EACH_AT === 0).map((target) => ({ ...mutation, ...target })));
    const asked = attempts.length;
    expect(asked).toBeGreaterThanOrEqual(mutations.length * Math.floor(targets.length / EACH_AT));
    const lane = async () => {
      for (let attempt = attempts.shift(); attempt !== undefined; attempt = attempts.shift()) {
        const { what, token, route, path, body } = attempt;
        const answer = await fetch(new URL(path, server.url), {
          method: route.method, body: body === undefined ? undefined : JSON.stringify(body),
          headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        });
        const { code: own, error } = (await answer.json()) as { code?: string; error?: { code?: string } };
        // The routes for models answer in their vendors' form.
        const code = own ?? error?.code;
        calls++;
        if (answer.status !== 401 || code !== 'UNAUTHENTICATED') taken.push(`${what} at ${route.method} ${path}: ${answer.status} ${code}`);
      }
    };
    // In order, few at a time: more than the database has connections for would be turned away before they are judged.
    await Promise.all(Array.from({ length: 6 }, lane));
    expect(taken).toEqual([]);
    expect(calls).toBe(asked);
    expect(await storedState(server)).toEqual(before);
    process.stderr.write(
      `mutated tokens: ${mutations.length}, each at every ${EACH_AT}th of ${routes.length} guarded routes = ${calls} calls, each 401\n`);
  });
});

describe('refresh', () => {
  test('exchanges a token for a fresh one that keeps who vouched and when', async () => {
    const agent = await anAgent(server).granted('web.search').create();
    const older = signToken({ ...claimsOf(agent.token), iat: now() - 500, auth_time: now() - 1_000, vch: 'usr_somebody' });
    const answer = (await refresh(agent, older)).expect(200);
    const claims = claimsOf(answer.text('token'));
    expect(claims).toMatchObject({ sub: agent.id, auth_time: claimsOf(older).auth_time, vch: 'usr_somebody',
      capabilities: ['web.search'] });
    expect(claims.jti).not.toBe(claimsOf(older).jti);
    expect(Number(claims.exp) - Number(claims.iat)).toBe(3_600);
    expect(Date.parse(answer.text('expiresAt'))).toBe(Number(claims.exp) * 1000);
    expect(await works(answer.text('token'))).toBe(true);
    const [entry] = (await auditOf(server, agent.id)).filter(({ event }) => event === 'agent.token_refreshed');
    expect(entry).toMatchObject({ actorId: agent.id, outcome: 'success' });
  });

  test('changed capabilities: 409 with the present ones, and a token once they are acknowledged', async () => {
    const agent = await anAgent(server).granted('web.search').create();
    (await asRoot(server).post(`/api/v1/agents/${agent.id}/capabilities`, { capability: 'file.read' })).expect(201);
    const changed = (await refresh(agent)).expect(409, 'CAPABILITIES_CHANGED');
    expect(changed.list('currentCapabilities').sort()).toEqual(['file.read', 'web.search']);
    (await refresh(agent, agent.token, { capabilities: ['web.search'] })).expect(409, 'CAPABILITIES_CHANGED');
    (await refresh(agent, agent.token, { capabilities: [] })).expect(409, 'CAPABILITIES_CHANGED');
    (await refresh(agent, agent.token, { capabilities: ['web.search', 'file.read', 'email.send'] }))
      .expect(409, 'CAPABILITIES_CHANGED');
    const fresh = (await refresh(agent, agent.token, { capabilities: changed.at('currentCapabilities') })).expect(200)
      .text('token');
    expect(capabilitiesIn(fresh)).toEqual(['file.read', 'web.search']);
    (await refresh(agent, fresh)).expect(200);
  });

  test('a token may not be refreshed to fewer or more than the agent holds', async () => {
    const agent = await anAgent(server).granted('web.search').granted('file.read').create();
    const [grant] = (await asRoot(server).get(`/api/v1/agents/${agent.id}/capabilities`)).expect(200)
      .list('grants') as { id: string }[];
    (await asRoot(server).delete(`/api/v1/capabilities/grant/${grant?.id}`)).expect(204);
    const changed = (await refresh(agent)).expect(409, 'CAPABILITIES_CHANGED');
    expect(changed.list('currentCapabilities')).toHaveLength(1);
    const fresh = (await refresh(agent, agent.token, { capabilities: changed.at('currentCapabilities') })).expect(200)
      .text('token');
    expect(capabilitiesIn(fresh)).toEqual(changed.list('currentCapabilities'));
  });

  test('a grant that ran out counts as a change', async () => {
    const soon = new Date(Date.now() + 1_200).toISOString();
    const agent = await anAgent(server).granted('web.search').granted('file.read', { expiresAt: soon }).create();
    expect(capabilitiesIn(agent.token)).toEqual(['file.read', 'web.search']);
    await new Promise((resolve) => setTimeout(resolve, 1_300));
    expect((await refresh(agent)).expect(409, 'CAPABILITIES_CHANGED').list('currentCapabilities')).toEqual(['web.search']);
  });

  test('without a grant change the order of capabilities does not matter', async () => {
    const agent = await anAgent(server).granted('web.search').granted('file.read').create();
    const turned = signToken({ ...claimsOf(agent.token), capabilities: [...capabilitiesIn(agent.token)].reverse() });
    (await refresh(agent, turned)).expect(200);
  });

  test('a deactivated agent gets 403, and so does a removed one', async () => {
    const agent = await anAgent(server).create();
    (await asRoot(server).post(`/api/v1/agents/${agent.id}/deactivate`)).expect(200);
    (await refresh(agent)).expect(403, 'AGENT_INACTIVE');
    (await asRoot(server).post(`/api/v1/agents/${agent.id}/token`)).expect(403, 'AGENT_INACTIVE');
    (await asRoot(server).delete(`/api/v1/agents/${agent.id}`)).expect(204);
    (await refresh(agent)).expect(403, 'AGENT_INACTIVE');
  });

  test('an expired token is refused', async () => {
    const agent = await anAgent(server).create();
    (await refresh(agent, signToken({ ...claimsOf(agent.token), iat: now() - 60, exp: now() - 1, auth_time: now() - 60 })))
      .expect(401);
  });

  test('a chain of refreshes ends 30 days after somebody vouched', async () => {
    const agent = await anAgent(server).create();
    const day = 86_400;
    const within = signToken({ ...claimsOf(agent.token), auth_time: now() - 30 * day + 60 });
    const past = signToken({ ...claimsOf(agent.token), auth_time: now() - 30 * day - 1 });
    const fresh = (await refresh(agent, within)).expect(200).text('token');
    expect(claimsOf(fresh).auth_time).toBe(claimsOf(within).auth_time);
    (await refresh(agent, past)).expect(401, 'UNAUTHENTICATED');
    // Vouched for anew, it goes on.
    const again = (await asRoot(server).post(`/api/v1/agents/${agent.id}/token`)).expect(200).text('token');
    (await refresh(agent, again)).expect(200);
  });
});
