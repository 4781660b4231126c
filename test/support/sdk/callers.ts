import { Countersign, type ConnectionOptions } from '@countersign/sdk';
import { anAgent, type BuiltAgent, type GrantTerms } from '../builders/agents.js';
import type { TestServer } from '../servers/server.js';
import { ROOT_KEY } from '../servers/test-run.js';

export type More = Partial<ConnectionOptions>;

/** The SDK with the root key. */
export const sdkAsRoot = (server: { readonly url: string }, more: More = {}): Countersign =>
  new Countersign({ url: server.url, credential: ROOT_KEY, ...more });

/** The SDK with the token of a new agent that holds these. */
export async function sdkAsAgent(
  server: TestServer, grants: Readonly<Record<string, GrantTerms>>, more: More = {},
): Promise<{ agent: BuiltAgent; sdk: Countersign }> {
  const builder = Object.entries(grants).reduce((one, [capability, terms]) => one.granted(capability, terms), anAgent(server));
  const agent = await builder.create();
  return { agent, sdk: new Countersign({ url: server.url, credential: agent.token, ...more }) };
}

/** Root approves a request as it stands. */
export async function approve(server: TestServer, id: string, body: Parameters<Countersign['hitl']['approve']>[1] = {}): Promise<void> {
  const { hitl } = sdkAsRoot(server);
  await hitl.approve(await hitl.get(id), body);
}

/** What a promise rejects with. */
export async function rejection(promise: Promise<unknown>): Promise<unknown> {
  try {
    const value = await promise;
    throw new Error(`it resolved with ${JSON.stringify(value)}`);
  } catch (error) {
    return error;
  }
}
