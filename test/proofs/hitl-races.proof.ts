import type { Verb } from '../support/hitl-model.js';
import { aLane, drawn, judge, type Lane, type Race, run, type Run } from '../support/hitl-races.js';
import { aHouse, type House } from '../support/hitl-world.js';
import type { Proof } from '../support/proof.js';
import { generator } from '../support/races.js';
import { type Receiver, startReceiver } from '../support/receiver.js';
import { startServer, type TestServer } from '../support/server.js';

const VERBS = ['approve', 'reject', 'escalate', 'cancel', 'timeout'] as const satisfies readonly Verb[];
const PAIRS = VERBS.flatMap((one, i) => VERBS.slice(i).map((other) => [one, other] as const));
const ACTIONS = ['reject', 'approve', 'escalate', 'notify_only'] as const;
const LANES_OF_ACTION = 4;
/** Of each lane, before the log is read: a page of it holds them. */
const RACES_TOGETHER = 24;

/**
 * Two commands, each sent to its own server at the same moment, race for a fresh request. What they answer, what is stored, what
 * the log says and what the runtime received must be what one of the two orders gives by the model, and nothing else.
 */
export const proof: Proof = {
  name: 'hitl-races',
  title: 'Of two commands on one request, on two servers, one comes first and the other is told so; an action runs once at most.',
  longCount: 2_000 * PAIRS.length,
  needs: 'database',
  run: async ({ count, seed, progress }) => {
    const coverage: Record<string, number> = Object.fromEntries(PAIRS.flatMap(([one, other]) =>
      ['the first', 'the second'].map((first) => [`${one} x ${other}: ${first} came first`, 0])));
    const random = generator(seed);
    const receiver = await startReceiver();
    const one = await startServer();
    try {
      const other = await startServer({ replicaOf: one });
      try {
        const servers = [one, other];
        const house = await aHouse(one, receiver);
        const lanes = await lanesOf(house, servers);
        const receipts = receiptsOf(receiver);
        let checked = 0;
        let counterexample: string | undefined;
        while (checked < count && counterexample === undefined) {
          const races = Array.from({ length: Math.min(count - checked, lanes.length * RACES_TOGETHER) }, (_, i) =>
            drawn(PAIRS[(checked + i) % PAIRS.length]!, random));
          const runs = await together(house, servers, lanes, races, () => progress(++checked));
          for (const { pair, first, answers, difference } of await judge(house, runs, receipts)) {
            for (const answer of answers) coverage[answer] = (coverage[answer] ?? 0) + 1;
            if (first !== undefined) coverage[`${pair}: ${first} came first`]! += 1;
            counterexample ??= difference;
          }
        }
        return { checked, coverage, ...(counterexample === undefined ? {} : { counterexample }) };
      } finally {
        await other.stop();
      }
    } finally {
      await one.stop();
      await receiver.close();
    }
  },
};

async function lanesOf(house: House, servers: readonly TestServer[]): Promise<Lane[]> {
  const lanes: Lane[] = [];
  for (let i = 0; i < LANES_OF_ACTION; i++) {
    for (const action of ACTIONS) lanes.push(await aLane(house, servers, action));
  }
  return lanes;
}

/** Each lane runs its races one after the other, all lanes at once. */
async function together(house: House, servers: readonly TestServer[], lanes: readonly Lane[], races: readonly Race[],
  ran: () => void): Promise<Run[]> {
  const runs = await Promise.all(lanes.map(async (lane, nth) => {
    const own: Run[] = [];
    for (let i = nth; i < races.length; i += lanes.length) {
      own.push(await run(house, servers, lane, races[i]!));
      ran();
    }
    return own;
  }));
  return runs.flat();
}

/** By the key that the runtime is given with each call, which is the execution's id. */
function receiptsOf({ requests }: Receiver): () => ReadonlyMap<string, number> {
  const receipts = new Map<string, number>();
  let counted = 0;
  return () => {
    for (; counted < requests.length; counted++) {
      const key = String(requests[counted]!.headers['idempotency-key']);
      receipts.set(key, (receipts.get(key) ?? 0) + 1);
    }
    return receipts;
  };
}
