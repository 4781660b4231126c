import { setTimeout as delay } from 'node:timers/promises';
import { CONNECTOR_CAPABILITY } from './figures.js';
import type { Stage } from './stage.js';

const AT_ONCE = 16;
const SET_UP_ATTEMPTS = 10;

/** Defines the capability with the connector, registers the agents over the API, and returns their tokens. */
export async function registerAgents(stage: Stage, count: number, progress: (done: number) => void): Promise<string[]> {
  await post(stage, '/api/v1/capabilities', {
    name: CONNECTOR_CAPABILITY, description: 'Order from the local receiver', defaultHitlMode: 'auto',
    connector: {
      type: 'http', method: 'POST', url: stage.receiverUrl, body: { order: '{input.query}', quantity: '{input.quantity}' },
    },
  });
  const grants = ['web.search', 'email.send', CONNECTOR_CAPABILITY].map((capability) => ({ capability }));
  const tokens: string[] = [];
  let next = 0;
  const register = async () => {
    while (next < count) {
      const name = `agent-${++next}`;
      tokens.push((await post<{ token: string }>(stage, '/api/v1/agents', { name, grants })).token);
      progress(tokens.length / count);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, register));
  return tokens;
}

/** Makes a key for the agent of each token. */
export async function makeAgentKeys(stage: Stage, tokens: readonly string[], progress: (done: number) => void): Promise<string[]> {
  const keys: string[] = [];
  let next = 0;
  const make = async () => {
    while (next < tokens.length) {
      const { sub } = JSON.parse(Buffer.from(tokens[next++]!.split('.')[1]!, 'base64url').toString()) as { sub: string };
      keys.push((await post<{ secret: string }>(stage, `/api/v1/agents/${sub}/keys`, { name: 'bench' })).secret);
      progress(keys.length / tokens.length);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, make));
  return keys;
}

/** By root, unless another credential is given. @throws Error on another status than expected: 201, unless another is given */
export async function post<Reply>(
  { governed: { url, rootKey } }: Stage, path: string, body: unknown, { token = rootKey, status = 201 } = {},
): Promise<Reply> {
  let response: Response;
  for (let attempt = 1; ; attempt++) {
    response = await fetch(url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    // Nothing was done: on a machine that does other work too, setting the stage takes patience.
    if (response.status !== 503 || attempt === SET_UP_ATTEMPTS) break;
    await delay(1_000);
  }
  if (response.status !== status) throw new Error(`POST ${path} answered ${response.status}: ${await response.text()}`);
  return (await response.json()) as Reply;
}
