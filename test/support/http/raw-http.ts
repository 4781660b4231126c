import { Agent, request as httpRequest, type IncomingHttpHeaders } from 'node:http';

export interface RawReply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface RawRequest {
  readonly method?: string;
  /** Sent as the request's target exactly as it stands: nothing is normalised or encoded. */
  readonly target: string;
  /** Name, value, name, value: the same name may stand twice. */
  readonly headers?: readonly string[];
  readonly body?: string | Uint8Array;
}

const connections = new Agent({ keepAlive: true, maxSockets: 4 });

/** One request as the caller writes it, for what `fetch` would tidy up before sending. */
export function sendRaw(url: string, { method = 'GET', target, headers = [], body }: RawRequest): Promise<RawReply> {
  const { hostname, port, host } = new URL(url);
  const length = body === undefined ? [] : ['content-length', String(Buffer.byteLength(body))];
  return new Promise((resolve, reject) => {
    const sent = httpRequest(
      { hostname, port, method, path: target, agent: connections, headers: ['host', host, ...length, ...headers] },
      (response) => {
        const chunks: Buffer[] = [];
        // A stream never ends by itself: its head is the answer.
        if (/^text\/event-stream/.test(response.headers['content-type'] ?? '')) {
          response.destroy();
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body: '' });
          return;
        }
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.once('error', reject);
        response.once('end', () =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks).toString('utf8') }),
        );
      },
    );
    sent.once('error', reject);
    sent.end(body);
  });
}

/** Ends the connections that were kept open between requests. */
export function closeRawConnections(): void {
  connections.destroy();
}
