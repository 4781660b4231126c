import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { eventually } from '../running/eventually.js';

export interface ReceivedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly at: Date;
}

/** What the receiver does with one request. */
export interface Answer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Text is sent as it is, anything else as JSON. */
  readonly body?: unknown;
  /** Milliseconds before the status line. */
  readonly delayMs?: number;
  /** Waits for this before the status line. */
  readonly after?: Promise<unknown>;
  /** Sends the body in pieces of so many bytes, one every `everyMs`. */
  readonly drip?: { readonly bytes: number; readonly everyMs: number };
  /** Says nothing at all, or nothing after the headers, until the caller gives up. */
  readonly hang?: 'before headers' | 'after headers';
  /** Cuts the connection without an answer. */
  readonly reset?: boolean;
}

export interface Receiver {
  readonly url: string;
  /** `127.0.0.1:port`, as OUTBOUND_ALLOW wants it. */
  readonly destination: string;
  readonly requests: readonly ReceivedRequest[];
  /** The next requests get these answers in turn; after them, the standing one again. */
  script(...answers: Answer[]): void;
  /** What every request without a scripted answer gets; 200 with `{"ok":true}` unless told otherwise. */
  standing(answer: Answer | ((request: ReceivedRequest) => Answer)): void;
  /** The requests, once there are so many. */
  received(count: number): Promise<readonly ReceivedRequest[]>;
  close(): Promise<void>;
}

/** A real HTTP server on this machine in the place of somebody's endpoint. */
export async function startReceiver(): Promise<Receiver> {
  const requests: ReceivedRequest[] = [];
  const scripted: Answer[] = [];
  let standing: (request: ReceivedRequest) => Answer = () => ({ body: { ok: true } });

  const server = createServer((incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      const request: ReceivedRequest = {
        method: incoming.method ?? '',
        path: incoming.url ?? '',
        headers: incoming.headers,
        body: Buffer.concat(chunks).toString('utf8'),
        at: new Date(),
      };
      requests.push(request);
      // A caller that gave up in the middle of an answer is what some tests are about.
      answer(response, scripted.shift() ?? standing(request)).catch(() => response.destroy());
    });
  });
  const port = await listen(server);

  return {
    url: `http://127.0.0.1:${port}`,
    destination: `127.0.0.1:${port}`,
    requests,
    script: (...answers) => void scripted.push(...answers),
    standing: (next) => {
      standing = typeof next === 'function' ? next : () => next;
    },
    received: (count) =>
      eventually(() => {
        if (requests.length < count) throw new Error(`the receiver got ${requests.length} of ${count} requests`);
        return requests;
      }),
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

async function answer(response: ServerResponse, plan: Answer): Promise<void> {
  const { status = 200, headers, body, delayMs, after, drip, hang, reset } = plan;
  if (reset === true) return void response.socket?.resetAndDestroy();
  if (hang === 'before headers') return;
  if (delayMs !== undefined) await pause(delayMs);
  await after;
  const text = typeof body === 'string';
  const content = Buffer.from(body === undefined ? '' : text ? body : JSON.stringify(body));
  const type = text ? 'text/plain; charset=utf-8' : 'application/json';
  response.writeHead(status, { 'content-type': type, 'content-length': content.length, ...headers });
  if (hang === 'after headers') return response.flushHeaders();
  if (drip) {
    for (let sent = 0; sent < content.length && !response.destroyed; sent += drip.bytes) {
      response.write(content.subarray(sent, sent + drip.bytes));
      await pause(drip.everyMs, undefined, { ref: false });
    }
  }
  response.end(drip ? undefined : content);
}

function listen(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
  });
}
