// Receivers of webhooks, all in one process: `/hook/<n>` answers at once, or hangs while `/hang?from=<n>` says so. What came is kept with
// its time, and handed out by `/arrived`.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const arrived: [about: string, at: number][] = [];
let hangsBelow = 0;

const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
  const url = new URL(request.url ?? '/', 'http://localhost');
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.once('end', () => {
    const at = Date.now();
    if (url.pathname === '/hang') hangsBelow = Number(url.searchParams.get('below'));
    if (url.pathname === '/arrived') return void response.end(JSON.stringify(arrived.splice(0)));
    const receiver = /^\/hook\/(\d+)$/.exec(url.pathname)?.[1];
    if (receiver !== undefined && Number(receiver) < hangsBelow) return;
    if (receiver !== undefined) {
      const { hitl_request_id: about = '' } = JSON.parse(Buffer.concat(chunks).toString('utf8')) as { hitl_request_id?: string };
      arrived.push([about, at]);
    }
    // What Slack's incoming webhooks answer, too.
    response.end('ok');
  });
});
process.once('SIGTERM', () => process.exit(0));
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));
