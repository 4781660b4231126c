import { afterAll, beforeAll } from '@jest/globals';
import { asRoot, type Client, type Reply } from '../http/actors.js';
import { anAgent, type BuiltAgent, type GrantTerms } from '../builders/agents.js';
import { defineCapability } from '../builders/gate.js';
import { startReceiver, type Receiver } from '../http/receiver.js';
import { startServer, type TestServer } from '../servers/server.js';
import { EXECUTE } from '../http/paths.js';

export let server: TestServer;
export let replica: TestServer;
export let root: Client;
export let receiver: Receiver;

export interface Asked {
  readonly agent: BuiltAgent;
  readonly id: string;
  readonly execution: string;
}

export async function asked(terms: GrantTerms = {}, body: Readonly<Record<string, unknown>> = {}): Promise<Asked> {
  const { capability = 'email.send' } = body as { capability?: string };
  const agent = await anAgent(server).named('mailer').granted(capability, { hitlMode: 'propose', ...terms }).create();
  const reply = (await agent.client.post(EXECUTE, { capability, input: { to: 'a@example.org' }, ...body })).expect(202);
  return { agent, id: reply.text('hitlRequestId'), execution: reply.text('executionId') };
}

export const decide = (client: Client, id: string, decision: string, body?: unknown): Promise<Reply> =>
  client.post(`/api/v1/hitl/${id}/${decision}`, body);

export function startTwoServers(): void {
  beforeAll(async () => {
    [server, receiver] = await Promise.all([startServer(), startReceiver()]);
    replica = await startServer({ replicaOf: server });
    root = asRoot(server);
    await defineCapability(server, 'crm.push', { connector: { type: 'http', method: 'POST', url: receiver.url, body: '{input}' } });
  });
  afterAll(async () => {
    await replica.stop();
    await server.stop();
    await receiver.close();
  });
}
