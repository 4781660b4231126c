import { anAgent, type BuiltAgent } from '../builders/agents.js';
import { defineCapability } from '../builders/gate.js';
import type { Client, Reply } from '../http/actors.js';
import { eventually } from '../running/eventually.js';
import type { TestServer } from '../servers/server.js';

export const NODE = '/api/v1/node';

/** An agent that holds, as `auto` unless the terms say otherwise, a capability of its own that its node does. */
export async function aNodesAgent(
  server: TestServer, connector: Readonly<Record<string, unknown>> = {}, terms: Readonly<Record<string, unknown>> = {},
): Promise<BuiltAgent & { readonly capability: string }> {
  const capability = `press.print-${Math.random().toString(36).slice(2)}`;
  await defineCapability(server, capability, { connector: { type: 'node', timeoutSeconds: 20, ...connector } });
  const agent = await anAgent(server).granted(capability, terms).create();
  return { ...agent, capability };
}

export interface LeasedWork {
  readonly id: string;
  readonly fence: number;
}

export const heartbeat = (node: Client, body: object = {}): Promise<Reply> => node.post(`${NODE}/heartbeat`, body);
export const start = (node: Client, { id, fence }: LeasedWork): Promise<Reply> => node.post(`${NODE}/tasks/${id}/start`, { fence });

const DONE = { status: 'executed', output: { done: true } };

export function result(node: Client, { id, fence }: LeasedWork, body: object = DONE): Promise<Reply> {
  return node.post(`${NODE}/tasks/${id}/result`, { fence, ...body });
}

/** What the node gets by a poll, once it gets something. */
export async function leased(node: Client): Promise<LeasedWork> {
  return eventually(async () => {
    const reply = await node.post(`${NODE}/tasks/lease`, undefined, { query: { wait: 5 } });
    return reply.expect(200).at('task') as LeasedWork;
  });
}

/** The node leases, starts and answers what this call gives it. */
export async function doneByNode(node: Client, answer: Promise<Reply>): Promise<void> {
  const work = await leased(node);
  (await start(node, work)).expect(200);
  (await result(node, work)).expect(200);
  (await answer).expect(200);
}
