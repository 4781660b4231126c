// The other end of the `http` connector: answers every call at once, in a process of its own.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const ANSWER = JSON.stringify({ ok: true, reference: 'PO-48213' });

const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
  request.resume().once('end', () => {
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': ANSWER.length }).end(ANSWER);
  });
});
process.once('SIGTERM', () => process.exit(0));
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));
