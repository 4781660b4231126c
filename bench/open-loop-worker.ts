// Sends POSTs at fixed moments and tells its figures to the parent process.
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { atFixedMoments, type OpenLoopOrder, type OpenLoopResult, percentile, type TimedCall } from './open-loop.js';

process.once('disconnect', () => process.exit(1));
const { url, tokens, body, perSecond, seconds } = JSON.parse(readFileSync(process.argv[2]!, 'utf8')) as OpenLoopOrder;
const agent = new Agent({ keepAlive: true, maxSockets: Infinity });
const target = new URL(url);
const headersOf = tokens.map((token) => ({
  authorization: `Bearer ${token}`, 'content-type': 'application/json', 'content-length': Buffer.byteLength(body),
}));

const each: TimedCall[] = [];
let isOver = false;
process.on('message', () => (isOver = true));
const failed: Record<number, number> = {};

const fail = (status: number) => void (failed[status] = (failed[status] ?? 0) + 1);

function call(n: number, dueAt: number): Promise<void> {
  return new Promise((done) => {
    const sent = request(target, { method: 'POST', agent, headers: headersOf[n % headersOf.length]! }, (response) => {
      response.resume().once('end', () => {
        if (response.statusCode === 200) each.push([performance.timeOrigin + dueAt, performance.now() - dueAt]);
        else fail(response.statusCode ?? 0);
        done();
      });
    });
    sent.once('error', () => {
      fail(0);
      done();
    });
    sent.end(body);
  });
}

const begin = performance.now();
setTimeout(() => process.send!({ kind: 'steady' }), 1_000);
await atFixedMoments(perSecond, seconds, call, () => isOver);
const took = (performance.now() - begin) / 1_000;
each.sort(([a], [b]) => a - b);
const times = each.map(([, took]) => took).sort((a, b) => a - b);
const value: OpenLoopResult = {
  perSecond: times.length / took, wanted: perSecond, calls: times.length, failed,
  p50: percentile(times, 0.5), p95: percentile(times, 0.95), p99: percentile(times, 0.99), each,
};
process.send!({ kind: 'result', value }, () => process.exit(0));
