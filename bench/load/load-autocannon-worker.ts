// Runs one stretch of load and sends its figures to the parent process.
import { readFileSync } from 'node:fs';
import autocannon from 'autocannon';
import type { LoadOrder, LoadResult } from './load-generator.js';

const { url, tokens, body, connections, seconds, headers } = JSON.parse(readFileSync(process.argv[2]!, 'utf8')) as LoadOrder;

const requests = tokens.map((token) => ({ headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers } }));
let opened = 0;

const result = await autocannon({
  url,
  method: 'POST',
  body,
  connections,
  duration: seconds,
  requests: requests.slice(0, 1),
  // Each connection goes through all callers, and none begins where another does: otherwise all would call as the same agent.
  setupClient: (client) => {
    const start = Math.floor((opened++ * requests.length) / connections);
    client.setRequests([...requests.slice(start), ...requests.slice(0, start)]);
  },
});

// Its own total leaves out what came after the last full second.
const requests2xx = result['2xx'];
process.send!({
  requests: requests2xx + result.non2xx,
  requestsPerSecond: requests2xx / result.duration,
  p50: result.latency.p50,
  p99: result.latency.p99,
  failed: result.non2xx + result.errors,
} satisfies LoadResult);
