import { asAgent, asRoot, type Client, type Reply } from '../http/actors.js';
import type { BuiltAgent } from './agents.js';
import type { TestServer } from '../servers/server.js';

export const transferred = (server: TestServer, agent: BuiltAgent, organizationId: string, client = asRoot(server)): Promise<Reply> =>
  client.post(`/api/v1/agents/${agent.id}/transfer`, { organizationId });

/** An entry as it is stored. */
export interface Link {
  readonly organization_id: string;
  readonly chain: string;
  readonly seq: number;
  readonly id: string;
  readonly event: string;
  readonly actor_id: string;
  readonly hash: string;
  readonly prev_hash: string | null;
  readonly metadata: Record<string, unknown>;
}

/** A chain through all organizations that it has stood in. */
export const linksOf = (server: TestServer, chain: string): Promise<Link[]> => server.sql(
  `select organization_id, chain, seq::integer, id, event, actor_id, hash, prev_hash, payload::json -> 'metadata' as metadata
   from audit_entries where chain = $1 order by seq`, [chain]);

export interface Head {
  readonly seq: number;
  readonly hash: string;
  readonly revision: number;
  readonly open_requests: number;
  readonly closed: boolean;
}

export async function headOf(server: TestServer, organizationId: string, { id }: BuiltAgent): Promise<Head> {
  const [head] = await server.sql<Head & Record<string, unknown>>(
    `select seq::integer, hash, revision::integer, open_requests, closed_at is not null as closed
     from audit_heads where organization_id = $1 and chain = $2`, [organizationId, id]);
  return head!;
}

/** A new token with new grants, as the people of the agent's present organization give them. */
export async function welcomed(server: TestServer, agent: BuiltAgent, capability = 'web.search',
  hitlMode = 'auto'): Promise<Client> {
  const root = asRoot(server);
  (await root.post('/api/v1/capabilities/grant', { agentId: agent.id, capability, hitlMode })).expect(201);
  return asAgent(server, (await root.post(`/api/v1/agents/${agent.id}/token`)).expect(200).text('token'));
}
