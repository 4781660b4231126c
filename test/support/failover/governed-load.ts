import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { BuiltAgent } from '../builders/agents.js';
import { as } from '../http/actors.js';
import type { TestServer } from '../servers/server.js';

const AGAIN_AFTER_MS = 50;

/** Calls that were answered by 200: by the number that each was made with, the execution that the answer named. */
export interface Acknowledged {
  readonly executions: Map<number, string>;
  /** When each was answered (`performance.now()`), of each server. */
  readonly answeredAt: Map<TestServer, number[]>;
  /** Calls that got something else than 200 at first, or nothing. */
  repeated: number;
}

export const noneAcknowledged = (servers: readonly TestServer[]): Acknowledged =>
  ({ executions: new Map(), answeredAt: new Map(servers.map((server) => [server, []])), repeated: 0 });

/** Agents that call, each in turn by one of the servers; a call without a 200 is made again, as the same one, by the other. */
export function governedLoad(
  servers: readonly TestServer[], agents: readonly BuiltAgent[], capabilities: readonly string[], acknowledged: Acknowledged,
): { end(): Promise<void> } {
  let ended = false;
  const callers = agents.map(async (agent, at) => {
    for (let turn = at; !ended; turn++) {
      const n = Number.parseInt(randomBytes(6).toString('hex'), 16);
      const once = { 'idempotency-key': randomBytes(12).toString('hex') };
      for (let attempt = 0; !ended; attempt++) {
        const server = servers[(turn + attempt) % servers.length]!;
        const call = { capability: capabilities[turn % capabilities.length]!, input: { n } };
        const client = as(server, agent.token).with(once);
        const reply = await client.post<{ executionId?: string }>('/api/v1/execute', call).catch(() => undefined);
        if (reply?.status === 200) {
          acknowledged.executions.set(n, reply.body.executionId!);
          acknowledged.answeredAt.get(server)!.push(performance.now());
          break;
        }
        if (reply !== undefined && ![409, 502, 503].includes(reply.status)) {
          throw new Error(`a call was answered ${reply.status}: ${reply.text('detail')}`);
        }
        acknowledged.repeated++;
        await pause(AGAIN_AFTER_MS);
      }
    }
  });
  const all = Promise.all(callers);
  all.catch(() => undefined);
  return {
    end: async () => {
      ended = true;
      await all;
    },
  };
}
