// Reads answers of models, some at once, one after the other in each lane, and sends the figures to the parent process.
import { readFileSync } from 'node:fs';
import { Pool } from 'undici';
import { percentile } from '../load/open-loop.js';
import type { ReadOrder, ReadResult } from './read-answers.js';

process.once('disconnect', () => process.exit(1));
const { url, tokens, body, lanes, seconds, isLeft } = JSON.parse(readFileSync(process.argv[2]!, 'utf8')) as ReadOrder;
const { origin, pathname: path } = new URL(url);
const pool = new Pool(origin, { connections: lanes, headersTimeout: 0, bodyTimeout: 0 });
const END = performance.now() + seconds * 1_000;
const firsts: number[] = [];
const wholes: number[] = [];
const lefts: number[] = [];
let [chunks, bytes, next] = [0, 0, 0];

async function lane(): Promise<void> {
  do {
    const headers = { authorization: `Bearer ${tokens[next++ % tokens.length]}`, 'content-type': 'application/json' };
    const leaving = new AbortController();
    const begun = performance.now();
    if (isLeft) setTimeout(() => leave(leaving), 100);
    try {
      const { statusCode, body: answer } = await pool.request({ path, method: 'POST', headers, body, signal: leaving.signal });
      if (statusCode !== 200) throw new Error(`answered ${statusCode}: ${await answer.text()}`);
      let isFirst = true;
      for await (const part of answer) {
        if (isFirst) firsts.push(performance.now() - begun);
        isFirst = false;
        bytes += (part as Buffer).length;
        chunks += eventsIn(part as Buffer);
      }
      wholes.push(performance.now() - begun);
    } catch (error) {
      if (!leaving.signal.aborted) throw error;
    }
  } while (performance.now() < END);
}

function leave(leaving: AbortController): void {
  leaving.abort();
  lefts.push(performance.timeOrigin + performance.now());
}

/** Each ends with an empty line; one that is cut between its two ends counts in neither piece. */
function eventsIn(part: Buffer): number {
  let count = 0;
  for (let at = part.indexOf('\n\n'); at >= 0; at = part.indexOf('\n\n', at + 2)) count++;
  return count;
}

const begun = performance.now();
await Promise.all(Array.from({ length: lanes }, lane));
const took = (performance.now() - begun) / 1_000;
const sorted = (times: number[]) => times.sort((a, b) => a - b);
const result: ReadResult = {
  answers: wholes.length, perSecond: chunks / took, bytes, lefts,
  first: percentile(sorted(firsts), 0.5), whole: percentile(sorted(wholes), 0.5),
};
process.send!(result, () => process.exit(0));
