import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What a gateway does to one call. `lost`: it goes through, and its answer is lost with the connection. */
export type Fault =
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: string }
  | 'refused'
  | 'lost';

export interface PassedCall {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
}

export interface Gateway {
  readonly url: string;
  /** What came, in its order. */
  readonly calls: readonly PassedCall[];
  /** Asked for each call. */
  fault(find: (call: PassedCall) => Fault | undefined): void;
  /** The clock in the answers is ahead by so many seconds. */
  clockAhead(seconds: number): void;
  /** How many calls are under way, streams among them. */
  open(): number;
  /** How many calls of that path came. */
  count(path: RegExp): number;
  close(): Promise<void>;
}

/** What stands before servers: hands calls to each in turn, and now and then answers itself. */
export async function startGateway(upstreams: () => readonly string[]): Promise<Gateway> {
  const calls: PassedCall[] = [];
  let find: (call: PassedCall) => Fault | undefined = () => undefined;
  let ahead = 0;
  let turn = 0;
  let open = 0;
  const server = createServer((incoming, response) => {
    const call = { method: incoming.method ?? '', path: incoming.url ?? '', headers: incoming.headers };
    calls.push(call);
    open++;
    response.once('close', () => open--);
    const fault = find(call);
    if (fault === 'refused') return void response.socket?.resetAndDestroy();
    if (fault !== undefined && fault !== 'lost') {
      incoming.resume();
      response.writeHead(fault.status, { 'content-type': 'text/html', ...fault.headers });
      return void response.end(fault.body ?? '<html>');
    }
    const all = upstreams();
    forward(incoming, response, { to: all[turn++ % all.length]!, isLost: fault === 'lost', ahead });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    fault: (next) => {
      find = next;
    },
    clockAhead: (seconds) => {
      ahead = seconds;
    },
    open: () => open,
    count: (path) => calls.filter((call) => path.test(call.path)).length,
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

interface Forwarding {
  readonly to: string;
  readonly isLost: boolean;
  readonly ahead: number;
}

function forward(incoming: IncomingMessage, response: ServerResponse, { to, isLost, ahead }: Forwarding): void {
  const cut = () => void response.socket?.resetAndDestroy();
  const call = { method: incoming.method, headers: incoming.headers, agent: false };
  const outgoing = request(new URL(incoming.url ?? '/', to), call, (answer) => {
    if (isLost) return void answer.resume().on('end', cut).on('error', cut);
    const date = new Date(Date.now() + ahead * 1_000).toUTCString();
    response.writeHead(answer.statusCode ?? 502, { ...answer.headers, ...(ahead === 0 ? {} : { date }) });
    answer.on('error', cut).pipe(response);
  });
  outgoing.on('error', cut);
  response.on('close', () => outgoing.destroy());
  incoming.on('error', () => outgoing.destroy()).pipe(outgoing);
}
