// Makes each call of a list once, over so many connections at a time, and sends its figures to the parent process.
import { readFileSync } from 'node:fs';
import { Pool } from 'undici';
import type { EachOnceOrder, EachOnceResult } from './each-once.js';
import { percentile } from './open-loop.js';

process.once('disconnect', () => process.exit(1));
const { url, calls, connections } = JSON.parse(readFileSync(process.argv[2]!, 'utf8')) as EachOnceOrder;
const target = new URL(url);
const pool = new Pool(target.origin, { connections });
const took: number[] = [];
const failed: string[] = [];
let next = 0;

async function lane(): Promise<void> {
  for (let call = calls[next++]; call !== undefined; call = calls[next++]) {
    const begin = performance.now();
    const headers = { authorization: `Bearer ${call.token}`, 'content-type': 'application/json' };
    const { statusCode, body } = await pool.request({ path: target.pathname, method: 'POST', headers, body: call.body });
    const answer = await body.text();
    took.push(performance.now() - begin);
    if (statusCode < 200 || statusCode > 299) failed.push(`${statusCode} ${answer}`);
  }
}

const begin = performance.now();
await Promise.all(Array.from({ length: connections }, lane));
const seconds = (performance.now() - begin) / 1_000;
took.sort((a, b) => a - b);
const value: EachOnceResult = { requestsPerSecond: took.length / seconds, p50: percentile(took, 0.5), p99: percentile(took, 0.99), failed };
process.send!(value, () => process.exit(0));
