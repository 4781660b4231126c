import type { Verb } from '../../support/hitl/hitl-model-decisions.js';
import {
  aRaceAgent, drawn, drawnVotes, checkRace, LAST_VOTES, type RaceAgent, type Race, run, type Run, SAME_PERSON,
} from '../../support/hitl/hitl-races.js';
import { aTenantGroup, type TenantGroup } from '../../support/hitl/hitl-scenario.js';
import type { Proof } from '../../support/proofs/proof.js';
import { generator } from '../../support/proofs/races.js';
import { type Receiver, startReceiver } from '../../support/http/receiver.js';
import { startServer, type TestServer } from '../../support/servers/server.js';

const VERBS = ['approve', 'reject', 'escalate', 'cancel', 'timeout'] as const satisfies readonly Verb[];
const PAIRS_OF_VERBS = VERBS.flatMap((one, i) => VERBS.slice(i).map((other) => [one, other] as const));
/** And two votes that meet: the last two of a quorum, and one person's twice. */
const PAIRS = [...PAIRS_OF_VERBS.map((pair) => pair.join(' x ')), LAST_VOTES, SAME_PERSON];
const ACTIONS = ['reject', 'approve', 'escalate', 'notify_only'] as const;
const LANES_OF_ACTION = 4;
/** Before the log is read: a page of each agent's holds what they left. */
const RACES_TOGETHER = 17 * 20;
/** Of each pair: in fewer, that always the same one comes first may be luck. */
const RACES_FOR_LUCK = 40;
const ORDERS = ['the first', 'the second'] as const;

/**
 * Two commands, each sent to its own server at the same moment, race for a fresh request. What they answer, what is stored, what
 * the log says and what the runtime received must be what one of the two orders gives by the model, and nothing else.
 */
export const proof: Proof = {
  name: 'hitl-races',
  title: 'Of two commands on one request, on two servers, one comes first and the other is told so; an action runs once at most.',
  longCount: 2_000 * PAIRS.length,
  shortCount: 10 * PAIRS.length,
  needs: 'database',
  run: async ({ count, seed, progress }) => {
    const coverage: Record<string, number> = Object.fromEntries([...PAIRS, ...ORDERS].map((what) => [what, 0]));
    const ofPairs: Record<string, number> = Object.fromEntries(PAIRS.flatMap((pair) =>
      ORDERS.map((first) => [`${pair}: ${first} came first`, 0])));
    const random = generator(seed);
    const receiver = await startReceiver();
    // What stays escalated is left open: a lane's agent shall not come to the cap of it.
    const one = await startServer({ env: { HITL_MAX_PENDING_PER_AGENT: '100000' } });
    try {
      const other = await startServer({ replicaOf: one, env: { HITL_MAX_PENDING_PER_AGENT: '100000' } });
      try {
        const servers = [one, other];
        const group = await aTenantGroup(one, receiver);
        const lanes = await lanesOf(group, servers);
        const receipts = receiptsOf(receiver);
        let checked = 0;
        let counterexample: string | undefined;
        while (checked < count && counterexample === undefined) {
          const races = Array.from({ length: Math.min(count - checked, RACES_TOGETHER) }, (_, i) =>
            drawnOf((checked + i) % PAIRS.length, random));
          const runs = (await Promise.all([...lanes].map(([ofPair, some]) => {
            const own = races.filter(({ pair }) => ofPair === (lanes.has(pair) ? pair : ''));
            return together(group, servers, some, own, () => progress(++checked));
          }))).flat();
          for (const { pair, first, answers, difference } of await checkRace(group, runs, receipts)) {
            for (const answer of answers) coverage[answer] = (coverage[answer] ?? 0) + 1;
            coverage[pair]! += 1;
            if (first !== undefined) {
              coverage[first]! += 1;
              ofPairs[`${pair}: ${first} came first`]! += 1;
            }
            counterexample ??= difference;
          }
        }
        const isLuck = checked < RACES_FOR_LUCK * PAIRS.length;
        Object.assign(coverage, Object.fromEntries(Object.entries(ofPairs).filter(([, times]) => times > 0 || !isLuck)));
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

function drawnOf(nth: number, random: () => number): Race {
  const verbs = PAIRS_OF_VERBS[nth];
  return verbs ? drawn(verbs, random) : drawnVotes(PAIRS[nth] as typeof LAST_VOTES | typeof SAME_PERSON, random);
}

/** Votes need a quorum, and a lane whose grant asks for one; all other pairs share the rest. */
async function lanesOf(group: TenantGroup, servers: readonly TestServer[]): Promise<Map<string, RaceAgent[]>> {
  const plain: RaceAgent[] = [];
  for (let i = 0; i < LANES_OF_ACTION; i++) {
    for (const action of ACTIONS) plain.push(await aRaceAgent(group, servers, action));
  }
  const voting = (approvals: number) => aRaceAgent(group, servers, 'reject', { approvals, withAdmin: false });
  return new Map([['', plain], [LAST_VOTES, [await voting(3)]], [SAME_PERSON, [await voting(2)]]]);
}

/** Each lane runs its races one after the other, all lanes at once. */
async function together(group: TenantGroup, servers: readonly TestServer[], lanes: readonly RaceAgent[], races: readonly Race[],
  ran: () => void): Promise<Run[]> {
  const runs = await Promise.all(lanes.map(async (lane, nth) => {
    const own: Run[] = [];
    for (let i = nth; i < races.length; i += lanes.length) {
      own.push(await run(group, servers, lane, races[i]!));
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
