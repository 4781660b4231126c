import { type Client, type Reply } from '../http/actors.js';
import { anAgent, type BuiltAgent, type GrantTerms } from './agents.js';
import { requestOf } from './gate.js';
import type { BuiltPerson } from './people.js';
import type { TestServer } from '../servers/server.js';

export interface AskedTerms {
  readonly organizationId: string;
  readonly capability?: string;
  readonly grant?: GrantTerms;
  readonly input?: Readonly<Record<string, unknown>>;
  readonly context?: Readonly<Record<string, unknown>>;
  readonly teamId?: string;
}

/** A request that waits for people, of an agent of its own. */
export interface AskedRequest {
  readonly agent: BuiltAgent;
  readonly capability: string;
  readonly id: string;
  readonly execution: string;
}

export async function aRequest(server: TestServer, terms: AskedTerms): Promise<AskedRequest> {
  const { organizationId, capability = 'email.send', grant, input = { to: 'a@example.org' }, context, teamId } = terms;
  const agent = await anAgent(server).inOrganization(organizationId).granted(capability, { hitlMode: 'propose', ...grant }).create();
  if (teamId !== undefined) {
    // Past the API: what is told is who decides, not how an agent comes to a team.
    await server.sql('update agents set team_id = $2 where id = $1', [agent.id, teamId]);
    await server.sql('update audit_heads set revision = revision + 1 where chain = $1', [agent.id]);
  }
  const call = { capability, input, ...(context ? { context } : {}) };
  const reply = (await agent.client.post('/api/v1/execute', call)).expect(202);
  return { agent, capability, id: reply.text('hitlRequestId'), execution: reply.text('executionId') };
}

type Body = Readonly<Record<string, unknown>>;
type Who = BuiltPerson | Client;
const clientOf = (by: Who): Client => ('client' in by ? by.client : by);

export const approveBy = (by: Who, { id }: { readonly id: string }, body: Body = {}): Promise<Reply> =>
  clientOf(by).post(`/api/v1/hitl/${id}/approve`, body);

export const rejectBy = (by: Who, { id }: { readonly id: string }, body: Body = {}): Promise<Reply> =>
  clientOf(by).post(`/api/v1/hitl/${id}/reject`, body);

/** The digest that the request has now. */
export const digestOf = async (server: TestServer, { id }: { readonly id: string }): Promise<string> =>
  (await requestOf(server, id)).action_digest;
