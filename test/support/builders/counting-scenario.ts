import { asRoot, type Client, type Reply } from '../http/actors.js';
import { anAgent, type BuiltAgent } from './agents.js';
import { defineCapability } from './gate.js';
import { startReceiver, type Receiver } from '../http/receiver.js';
import { startServer, type TestServer } from '../servers/server.js';

/** What is counted where a test does not say otherwise. */
export const COUNTED = 'web.search';

/** Two servers on one database, and a capability `invoice.send` that a receiver of ours serves. */
export interface CountingScenario {
  readonly server: TestServer;
  readonly replica: TestServer;
  readonly receiver: Receiver;
  limited(...limits: object[]): Promise<BuiltAgent>;
  configure(agent: BuiltAgent, body: object, capability?: string): Promise<Reply>;
  close(): Promise<void>;
}

export async function countingScenario(): Promise<CountingScenario> {
  const receiver = await startReceiver();
  const server = await startServer();
  const replica = await startServer({ replicaOf: server });
  await defineCapability(server, 'invoice.send', { connector: { type: 'http', method: 'POST', url: `${receiver.url}/send` } });
  return {
    server,
    replica,
    receiver,
    limited: (...limits) => anAgent(server).granted(COUNTED, { limits }).create(),
    configure: async ({ id }, body, capability = COUNTED) =>
      (await asRoot(server).patch(`/api/v1/agents/${id}/capabilities/${capability}`, body)).expect(200),
    close: async () => {
      await replica.stop();
      await server.stop();
      await receiver.close();
    },
  };
}

/** One call, once: its answer as it is. */
export const callGate = ({ client }: Pick<BuiltAgent, 'client'>, input: object = {}, capability = COUNTED): Promise<Reply<Ended>> =>
  client.post('/api/v1/execute', { capability, input });

export const statusOf = async (agent: BuiltAgent, input: object = {}): Promise<string> => (await callGate(agent, input)).body.status;

/** Puts agents into a team, or with null out of any. */
export async function moveToTeam(server: TestServer, agentIds: readonly string[], teamId: string | null): Promise<void> {
  for (const id of agentIds) (await asRoot(server).patch(`/api/v1/agents/${id}`, { teamId })).expect(200);
}

/** Agents of a team, each with a token that holds what the team does. */
export async function teamMates(server: TestServer, teamId: string, count: number): Promise<BuiltAgent[]> {
  const made = await Promise.all(Array.from({ length: count }, () => anAgent(server).create()));
  await moveToTeam(server, made.map(({ id }) => id), teamId);
  return Promise.all(made.map(async (agent) => {
    const token = (await asRoot(server).post(`/api/v1/agents/${agent.id}/token`)).expect(200).text('token');
    return { ...agent, token, client: asRoot(server).with({ authorization: `Bearer ${token}` }) };
  }));
}

export interface Ended {
  readonly status: string;
  readonly executionId?: string;
  readonly hitlRequestId?: string;
}

/**
 * One call, asked for again while it is turned away under load: then nothing of it happened.
 *
 * @param key makes it one call, however often it is sent
 */
export async function execute(client: Client, capability: string, input: object, key?: string): Promise<Ended> {
  const headers: Record<string, string> = key === undefined ? {} : { 'idempotency-key': key };
  for (let attempt = 0; ; attempt++) {
    const reply = await client.post<Ended>('/api/v1/execute', { capability, input }, { headers });
    if (reply.status === 200 || reply.status === 202) return reply.body;
    if (![409, 503].includes(reply.status) || attempt === 40) reply.expect(200);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** How often each status came up. */
export function tally(all: readonly { readonly status: string }[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { status } of all) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

export const callLimit = (max: number, then: string, per = 'hour') => ({ max, per, then });
export const sumLimit = (max: number, then: string, per = 'day') => ({ max, per, sum: 'input.amount', then });

/** Uses whose grant's total says something else than they add up to, of the whole installation: there must be none. */
export function wrongTotals(server: TestServer): Promise<Record<string, unknown>[]> {
  return server.sql(
    `select * from (select organization_id, grant_id, measure, sum(amount) as amount from grant_uses group by 1, 2, 3) u
     full join grant_totals t using (organization_id, grant_id, measure) where coalesce(u.amount, 0) <> coalesce(t.amount, 0)`,
  );
}
