import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { as, asAgent, asRoot, type Client, type Reply } from '../http/actors.js';
import type { TestServer } from '../servers/server.js';

export interface GrantTerms {
  readonly hitlMode?: string;
  readonly [member: string]: unknown;
}

export interface BuiltAgent {
  readonly id: string;
  readonly token: string;
  /** What the registration answered as `agent`. */
  readonly agent: Readonly<Record<string, unknown>>;
  /** A client that calls with this agent's token. */
  readonly client: Client;
}

export interface AgentBuilder {
  named(name: string): AgentBuilder;
  risk(level: string): AgentBuilder;
  tagged(...tags: string[]): AgentBuilder;
  inOrganization(organizationId: string): AgentBuilder;
  /** A grant that the first token already holds; `auto` unless the terms say otherwise. */
  granted(capability: string, terms?: GrantTerms): AgentBuilder;
  /** Any other member of the registration. */
  having(members: Readonly<Record<string, unknown>>): AgentBuilder;
  create(): Promise<BuiltAgent>;
}

/** `await anAgent(server).named('mailer').risk('high').granted('email.send', { hitlMode: 'propose' }).create()` */
export function anAgent(server: TestServer): AgentBuilder {
  const build = (body: Readonly<Record<string, unknown>>, grants: readonly GrantTerms[]): AgentBuilder => ({
    named: (name) => build({ ...body, name }, grants),
    risk: (riskLevel) => build({ ...body, riskLevel }, grants),
    tagged: (...tags) => build({ ...body, tags }, grants),
    inOrganization: (organizationId) => build({ ...body, organizationId }, grants),
    granted: (capability, terms = {}) => build(body, [...grants, { hitlMode: 'auto', ...terms, capability }]),
    having: (members) => build({ ...body, ...members }, grants),
    create: async () => {
      const registered = await onceAvailable(() => asRoot(server).post('/api/v1/agents', { ...body, grants }));
      return built(server, registered.expect(201));
    },
  });
  return build({ name: `agent ${randomBytes(4).toString('hex')}` }, []);
}

export interface BuiltAgentKey {
  readonly id: string;
  readonly secret: string;
  /** A client that calls with the key. */
  readonly client: Client;
}

/** A key of the agent, made by root. */
export async function anAgentKey(
  server: TestServer, { id }: Pick<BuiltAgent, 'id'>, terms: { readonly name?: string; readonly expiresAt?: string } = {},
): Promise<BuiltAgentKey> {
  const made = await onceAvailable(() => asRoot(server).post(`/api/v1/agents/${id}/keys`, { name: 'test', ...terms }));
  const secret = made.expect(201).text('secret');
  return { id: made.text('key.id'), secret, client: as(server, secret) };
}

/** Again while the answer is 503: a busy machine may keep a server's first connection to its database for longer than a call waits. */
async function onceAvailable(call: () => Promise<Reply>, tries = 20): Promise<Reply> {
  const reply = await call();
  if (reply.status !== 503 || tries === 1) return reply;
  await pause(500);
  return onceAvailable(call, tries - 1);
}

function built(server: TestServer, registered: Reply): BuiltAgent {
  const token = registered.text('token');
  return {
    id: registered.text('agent.id'),
    token,
    agent: registered.at('agent') as Readonly<Record<string, unknown>>,
    client: asAgent(server, token),
  };
}
