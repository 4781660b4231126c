import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTcpServer, type AddressInfo, type Server as TcpServer } from 'node:net';
import { afterAll, beforeAll, beforeEach } from '@jest/globals';
import { OutboundGuard, type OutboundRequest, type Resolve } from '../../../src/platform/outbound/outbound-guard.js';

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

let server: Server;
export let port: number;
let answer: Answer;
export let seen: { method: string; url: string; headers: IncomingMessage['headers']; body: string }[] = [];

let canary: TcpServer;
export let canaryPort: number;
/** Connections that came where none may. */
export let touched = 0;

export const touch = (): void => void touched++;
export const forgetTouches = (): void => void (touched = 0);

/** What the receiver answers until the test is over. */
export const answerBy = (given: Answer): void => void (answer = given);

export function listening(one: Server | TcpServer, host = '127.0.0.1', at = 0): Promise<number> {
  return new Promise((resolve) => one.listen(at, host, () => resolve((one.address() as AddressInfo).port)));
}

export const to: Resolve = async () => [{ address: '127.0.0.1', family: 4 }];
export const options = (parts: Partial<OutboundRequest> = {}): OutboundRequest =>
  ({ method: 'GET', maxBytes: 1_000, timeoutMs: 30_000, ...parts });
export const development = new OutboundGuard({ production: false, allow: [] }, to);

export function startOutbound(): void {
  beforeAll(async () => {
    server = createServer((request, response) => {
      let body = '';
      request.on('data', (chunk: Buffer) => (body += chunk.toString()));
      request.on('end', () => {
        seen.push({ method: request.method!, url: request.url!, headers: request.headers, body });
        answer(request, response);
      });
    });
    port = await listening(server);
    canary = createTcpServer((socket) => {
      touch();
      socket.destroy();
    });
    canaryPort = await listening(canary, '::');
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
    canary.close();
  });
  beforeEach(() => {
    seen = [];
    forgetTouches();
    answer = (_request, response) => response.end('ok');
  });
}
