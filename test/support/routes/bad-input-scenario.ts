import { setTimeout as pause } from 'node:timers/promises';
import { asRoot, type Client } from '../http/actors.js';
import { type RawReply, type RawRequest, sendRaw } from '../http/raw-http.js';
import { anAgent, anAgentKey, type BuiltAgent } from '../builders/agents.js';
import { aPerson, aTeam } from '../builders/people.js';
import { startServer, type TestServer } from '../servers/server.js';
import { isOfVendors, pathOf, routesOf, type Route } from './routes.js';
import { byTheStrongest } from './strongest-caller.js';

/** A server on which everything that a path can name exists, so that what keeps a bad call from acting is its badness alone. */
export interface BadInputScenario {
  readonly server: TestServer;
  readonly root: Client;
  readonly agent: BuiltAgent;
  readonly routes: readonly Route[];
  /** What paths name (`pathOf`). */
  readonly ids: Readonly<Record<string, string>>;
  /** Headers, name and value in turn, of the strongest caller whom the route admits. */
  callerOf(route: Route): string[];
  /** Sends it as that caller. Whatever is refused must be refused as a problem. */
  send(route: Route, sent: Sent): Promise<Refusal>;
}

export interface Sent {
  readonly body?: string | Uint8Array<ArrayBuffer>;
  readonly type?: string;
  readonly headers?: readonly string[];
  readonly query?: string;
  readonly path?: string;
}

export interface Refusal {
  readonly status: number;
  readonly code?: string;
  readonly pointers: readonly string[];
  readonly errors: readonly { readonly pointer: string; readonly message: string }[];
  readonly headers: Readonly<Record<string, string>>;
}

interface Said {
  readonly code: string;
  readonly status?: number;
  readonly errors?: readonly { readonly pointer: string; readonly message: string }[];
}

/** A problem, or on routes that vendors' clients call the vendor's error with what our problem says in it. */
function saidIn(route: Route, type: string, text: string): Said | undefined {
  if (isOfVendors(route)) return /^application\/json/.test(type) ? (JSON.parse(text) as { error: Said }).error : undefined;
  return /^application\/problem\+json/.test(type) ? (JSON.parse(text) as Said) : undefined;
}

export async function badInputScenario(): Promise<BadInputScenario> {
  const server = await startServer();
  const root = asRoot(server);
  const agent = await anAgent(server).granted('web.search').granted('email.send', { hitlMode: 'propose' }).granted('file.delete').create();
  const ran = (await agent.client.post('/api/v1/execute', { capability: 'web.search' })).expect(200);
  const asked = (await agent.client.post('/api/v1/execute', { capability: 'email.send' })).expect(202);
  const grant = (await root.get(`/api/v1/agents/${agent.id}/capabilities`)).expect(200);
  (await root.post('/api/v1/capabilities', { name: 'own.one', description: 'mine' })).expect(201);
  const user = (await root.post('/api/v1/users', { email: 'ada@example.test' })).expect(201);
  const key = (await root.post(`/api/v1/users/${user.text('user.id')}/keys`, { name: 'hers' })).expect(201);
  const person = await aPerson(server, 'viewer');
  const owner = await aPerson(server, 'owner');
  const agentKey = await anAgentKey(server, agent);
  const ids = {
    teams: await aTeam(server, person.organizationId, [{ userId: person.id }]), userId: person.id,
    organizations: user.text('user.organizationId'), users: user.text('user.id'), keyId: key.text('key.id'), agentKeyId: agentKey.id,
    agents: agent.id, executions: ran.text('executionId'), hitl: asked.text('hitlRequestId'), grant: grant.text('grants.0.id'),
    audit: ran.text('auditId'), name: 'own.one', capability: 'web.search',
  };
  const callerOf = (route: Route) => byTheStrongest(route,
    { server, agentToken: agent.token, agentKey: agentKey.secret, ownerKey: owner.key });

  /** What is turned away under load (503) is asked for again. */
  async function answerTo(request: RawRequest): Promise<RawReply> {
    for (let attempt = 0; ; attempt++) {
      const reply = await sendRaw(server.url, request);
      if (reply.status !== 503 || attempt === 20) return reply;
      await pause(100);
    }
  }

  async function send(route: Route, {
    body, type = 'application/json', headers = [], query = '', path = pathOf(route, ids),
  }: Sent): Promise<Refusal> {
    const contentType = body === undefined || type === '' ? [] : ['content-type', type];
    const { status, headers: answered, body: text } = await answerTo({
      method: route.method, target: `${path}${query}`, headers: [...callerOf(route), ...contentType, ...headers], body,
    });
    const refused = { status, pointers: [], errors: [], headers: answered as Record<string, string> };
    if (status < 400) return refused;
    const problem = saidIn(route, answered['content-type'] ?? '', text);
    if (problem === undefined || (problem.status ?? status) !== status) return { ...refused, code: `no problem: ${text.slice(0, 100)}` };
    const { code, errors = [] } = problem;
    return { ...refused, code, errors, pointers: errors.map(({ pointer, message }) => (message === '' ? 'no message' : pointer)) };
  }

  return { server, root, agent, ids, routes: await routesOf(server), callerOf, send };
}
