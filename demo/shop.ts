import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { JsonValue } from '../src/domain/json.js';

/** One request that really arrived. */
export interface Arrival {
  readonly method: string;
  readonly path: string;
  readonly body: string;
  /** The execution that caused it, as the service says in `Idempotency-Key`. */
  readonly executionId: string | undefined;
}

/** The shop outside: a real HTTP server on this machine, a steel shop with a mail desk. */
export interface Shop {
  readonly url: string;
  readonly arrivals: readonly Arrival[];
  close(): Promise<void>;
}

const OFFERS: JsonValue = [
  { item: 'steel sheet, 1 t', amount: 480 },
  { item: 'steel sheet, 10 t', amount: 4_650 },
];

export async function openShop(): Promise<Shop> {
  const arrivals: Arrival[] = [];
  const server = createServer((request, response) => {
    void arrivalOf(request).then((arrival) => {
      arrivals.push(arrival);
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(answerTo(arrival, arrivals.length)));
    }, () => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    arrivals,
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

async function arrivalOf(request: IncomingMessage): Promise<Arrival> {
  const { method = '', url = '', headers } = request;
  const key = headers['idempotency-key'];
  return { method, path: url, body: await text(request), executionId: typeof key === 'string' ? key : undefined };
}

function answerTo({ path }: Arrival, count: number): JsonValue {
  if (path.startsWith('/offers')) return { offers: OFFERS };
  if (path === '/mail') return { message: `m-${1_000 + count}` };
  return { order: `o-${2_000 + count}` };
}
