// Sends POSTs at fixed moments and sends its figures to the parent process.
import { readFileSync } from 'node:fs';
import { Pool } from 'undici';
import { atFixedMoments, type OpenLoopOrder, type OpenLoopResult, percentile, type TimedCall } from './open-loop.js';

process.once('disconnect', () => process.exit(1));
const { url, tokens, body, perSecond, seconds } = JSON.parse(readFileSync(process.argv[2]!, 'utf8')) as OpenLoopOrder;
const target = new URL(url);
// Of the clients that keep connections the one that takes the least of the cores that are measured.
const pool = new Pool(target.origin);
const headersOf = tokens.map((token) => ({ authorization: `Bearer ${token}`, 'content-type': 'application/json' }));

const each: TimedCall[] = [];
let isOver = false;
process.on('message', () => (isOver = true));
const failed: Record<number, number> = {};

const fail = (status: number) => void (failed[status] = (failed[status] ?? 0) + 1);

async function call(n: number, dueAt: number): Promise<void> {
  try {
    const headers = headersOf[n % headersOf.length]!;
    const { statusCode, body: answer } = await pool.request({ path: target.pathname, method: 'POST', headers, body });
    await answer.dump();
    if (statusCode === 200) each.push([performance.timeOrigin + dueAt, performance.now() - dueAt]);
    else fail(statusCode);
  } catch {
    fail(0);
  }
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
