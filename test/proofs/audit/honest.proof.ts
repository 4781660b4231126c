import { anyOperation, OPERATION_NAMES } from '../../support/proofs/honest-operations.js';
import { honestWorld, type HonestWorld, INTERNAL_KEY } from '../../support/proofs/honest-world.js';
import { type Receiver, startReceiver } from '../../support/http/receiver.js';
import { verifiedLog } from '../../support/log/verified-log.js';
import type { Proof } from '../../support/proofs/proof.js';
import { generator, oneOf } from '../../support/proofs/races.js';
import { aged, archiveFolder, swept } from '../../support/retention/retention.js';
import { back, startServer, type TestServer } from '../../support/servers/server.js';

/** Operations of a story, in a long run and in a short one. */
const [MANY, FEW] = [320, 60];
const AT_ONCE = 6;
/** Of the rounds of a story in which so many operations go on side by side. */
const [KILLS, SWEEPS] = [0.06, 0.04];
/** Stories on one database: later on each verification takes longer than the story. */
const STORIES_PER_DATABASE = 10;
/** In a short run, what depends on luck may not come up. */
const STORIES_FOR_LUCK = 10;

/**
 * Random stories over two servers: calls, questions, decisions by people of every role, and everything that changes what these rest on,
 * several at a time; servers are killed and come back, values are erased, retention sweeps. The log is verified after each.
 */
export const proof: Proof = {
  name: 'honest',
  title: 'A history that nobody tampered with is never called so, whatever went on in it.',
  longCount: 300,
  shortCount: 1,
  needs: 'database',
  run: async ({ count, seed, progress }) => {
    const random = generator(seed);
    const counted = ['operations', 'a server was killed', 'swept entries', 'right', 'erased', 'swept', 'limits', ...OPERATION_NAMES];
    const coverage: Record<string, number> = Object.fromEntries(counted.map((name) => [name, 0]));
    let checked = 0;
    let counterexample: string | undefined;
    while (checked < count && counterexample === undefined) {
      counterexample = await onDatabase(random, coverage, Math.min(STORIES_PER_DATABASE, count - checked), count > 1 ? MANY : FEW,
        () => progress(++checked));
    }
    if (count < STORIES_FOR_LUCK) for (const [what, times] of Object.entries(coverage)) if (times === 0) delete coverage[what];
    return { checked, coverage, ...(counterexample === undefined ? {} : { counterexample }) };
  },
};

async function onDatabase(
  random: () => number, coverage: Record<string, number>, stories: number, operations: number, told: () => void,
): Promise<string | undefined> {
  const receiver = await startReceiver();
  const env = { INTERNAL_API_KEY: INTERNAL_KEY, AUDIT_CHECKPOINT_SECONDS: '1', OUTBOUND_ALLOW: receiver.destination };
  const one = await startServer({ env });
  try {
    const other = await startServer({ env, replicaOf: one });
    try {
      const archive = await archiveFolder();
      for (let story = 0; story < stories; story++) {
        const wrong = await lived(await honestWorld([one, other], receiver, archive, random, coverage), receiver, operations);
        if (wrong !== undefined) return `story ${story + 1} on its database: ${wrong}`;
        told();
      }
      return undefined;
    } finally {
      await other.stop();
    }
  } finally {
    await one.stop();
    await receiver.close();
  }
}

/** @returns what is said of it, if anything */
async function lived(world: HonestWorld, receiver: Receiver, operations: number): Promise<string | undefined> {
  const { servers, random, coverage, archive } = world;
  const [{ database }] = servers as [TestServer, TestServer];
  for (let done = 0; done < operations; done += AT_ONCE) {
    receiver.standing({ delayMs: random() * 60, body: { ok: true } });
    const killed = random() < KILLS ? oneOf(servers, random) : undefined;
    const going = Array.from({ length: AT_ONCE }, () => anyOperation(world));
    if (killed) {
      await killed.kill();
      coverage['a server was killed']! += 1;
    }
    await Promise.all(going);
    if (killed) await back(killed);
    coverage['operations']! += AT_ONCE;
    if (random() < SWEEPS) {
      await aged(database);
      for (const { entries } of await swept(database, archive)) coverage['swept entries']! += entries;
    }
  }
  const { breaks, members } = await verifiedLog(database.url);
  const { right, notReplayable } = members['replay'] as { right: number; notReplayable: Record<string, number> };
  coverage['right']! += right;
  for (const [because, count] of Object.entries(notReplayable)) coverage[because]! += count;
  return breaks.length === 0 ? undefined : `${breaks.length} breaks: ${JSON.stringify(breaks.slice(0, 3))}`;
}
