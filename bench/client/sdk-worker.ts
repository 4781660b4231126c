// One stretch of calls by the SDK or by plain fetch, or many waits at once, in a process of its own; sends what it found to its parent.
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { Countersign } from '@countersign/sdk';
import { INPUT } from '../figures.js';

export type Side = 'sdk' | 'keyed' | 'fetch';

export type SdkOrder = { readonly url: string; readonly tokens: readonly string[] } & (
  | { readonly side: Side; readonly atOnce: number; readonly seconds: number; readonly warmUpSeconds: number }
  | { readonly side: 'waits'; readonly hitlRequestId: string; readonly waits: number }
);

/** Of calls the rate a second; of waits how much memory they take, in bytes. */
export interface SdkFound {
  readonly rate?: number;
  readonly growth?: number;
}

const CAPABILITY = 'web.search';
const SETTLES_MS = 20_000;
const CALLS_BEFORE = 2_000;
const CALLERS = 16;
// A thousand tokens are more than an environment holds.
const [order] = (await once(process, 'message')) as [SdkOrder];
process.send!(order.side === 'waits' ? { growth: await growthOf(order) } : { rate: await rateOf(order) });

/** Each caller sends its next call when the last one is answered, as the agents in turn. */
async function rateOf({ side, url, tokens, atOnce, seconds, warmUpSeconds }: Extract<SdkOrder, { side: Side }>): Promise<number> {
  const clients = side === 'sdk' ? tokens.map((credential) => new Countersign({ url, credential })) : [];
  const body = JSON.stringify({ capability: CAPABILITY, input: INPUT });
  let next = 0;
  const call = side === 'sdk'
    ? async () => (await clients[next++ % clients.length]!.execute(CAPABILITY, INPUT)).status
    : async () => {
      const headers = { authorization: `Bearer ${tokens[next++ % tokens.length]!}`, 'content-type': 'application/json' };
      const key: Record<string, string> = side === 'keyed' ? { 'idempotency-key': crypto.randomUUID() } : {};
      const answer = await fetch(`${url}/api/v1/execute`, { method: 'POST', headers: { ...headers, ...key }, body });
      return ((await answer.json()) as { status: string }).status;
    };
  await during(warmUpSeconds, atOnce, call);
  return (await during(seconds, atOnce, call)) / seconds;
}

async function during(seconds: number, atOnce: number, call: () => Promise<string>): Promise<number> {
  const end = performance.now() + seconds * 1_000;
  let answered = 0;
  const caller = async () => {
    while (performance.now() < end) {
      const status = await call();
      if (status !== 'executed') throw new Error(`sdk: a call was answered ${status}`);
      if (performance.now() < end) answered++;
    }
  };
  await Promise.all(Array.from({ length: atOnce }, caller));
  return answered;
}

/** Of so many that wait for one request, after they have asked a few times, beyond what as many calls leave behind in any process. */
async function growthOf({ url, tokens, hitlRequestId, waits }: Extract<SdkOrder, { side: 'waits' }>): Promise<number> {
  const sdk = new Countersign({ url, credential: tokens[0]! });
  // What calls load, and by how much their garbage makes the heap grow, is no matter of the waits.
  await sdk.waitFor(hitlRequestId, { waitTimeoutMs: 5_000 });
  let called = 0;
  const caller = async () => {
    while (called++ < CALLS_BEFORE) await sdk.hitl.get(hitlRequestId);
  };
  await Promise.all(Array.from({ length: CALLERS }, caller));
  global.gc!();
  const before = process.memoryUsage.rss();
  const ending = new AbortController();
  const waiting = Array.from({ length: waits }, () => sdk.waitFor(hitlRequestId, { signal: ending.signal }).catch(() => undefined));
  await delay(SETTLES_MS);
  global.gc!();
  const growth = process.memoryUsage.rss() - before;
  ending.abort();
  await Promise.all(waiting);
  return growth;
}
