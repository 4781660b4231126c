import { createHash, randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { newId } from '../src/domain/ids.js';
import { BLOCKED_CAPABILITY, CONNECTOR_CAPABILITY } from './figures.js';
import type { Stage } from './stage.js';

const AT_ONCE = 16;
const SET_UP_ATTEMPTS = 10;

/** Defines the benchmark's capabilities, registers the agents over the API, and returns their tokens. */
export async function registerAgents(stage: Stage, count: number, progress: (done: number) => void): Promise<string[]> {
  await post(stage, '/api/v1/capabilities', {
    name: CONNECTOR_CAPABILITY, description: 'Order from the local receiver', defaultHitlMode: 'auto',
    connector: {
      type: 'http', method: 'POST', url: stage.receiverUrl, body: { order: '{input.query}', quantity: '{input.quantity}' },
    },
  });
  await post(stage, '/api/v1/capabilities', { name: BLOCKED_CAPABILITY, description: 'Nobody may', defaultHitlMode: 'block' });
  const grants = ['web.search', 'email.send', CONNECTOR_CAPABILITY, BLOCKED_CAPABILITY].map((capability) => ({ capability }));
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

/** @returns the personal key of an admin: of the first organization, unless another is given */
export async function anAdmin({ database }: Stage, organizationId?: string): Promise<string> {
  const key = `svc_user_${randomBytes(32).toString('hex')}`;
  const id = newId('usr');
  // Past the API, and as old as an account is that may decide.
  await database.query(
    `insert into users (organization_id, id, email, email_folded, email_since, name, role, role_since, status, created_at, updated_at)
     select coalesce($2, first_organization_id), $1, $1 || '@example.test', $1 || '@example.test', since, 'Admin', 'admin', since, 'active',
       since, since
     from instance, (select clock_timestamp() - interval '1 day' as since) long_ago`,
    [id, organizationId ?? null],
  );
  await database.query(
    `insert into personal_keys (organization_id, id, user_id, name, key_hash, created_by, created_at)
     select coalesce($4, first_organization_id), $1, $2, 'bench', $3, 'root', clock_timestamp() - interval '1 day' from instance`,
    [newId('key'), id, createHash('sha256').update(key).digest('hex'), organizationId ?? null],
  );
  return key;
}
