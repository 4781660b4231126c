import { asRoot } from '../../support/http/actors.js';
import { startReceiver } from '../../support/http/receiver.js';
import { erased, erasuresOf } from '../../support/erasure/erasures.js';
import { OPERATION_NAMES } from '../../support/proofs/honest-operations.js';
import { KILLED, MOSTLY_REPLAYED, OUTCOMES, SWEPT, VERIFIED, verified, wrongInStory } from '../../support/proofs/honest-story.js';
import { INTERNAL_KEY, type Surroundings } from '../../support/proofs/honest-scenario.js';
import type { Proof } from '../../support/proofs/proof.js';
import { generator } from '../../support/proofs/races.js';
import { archiveFolder } from '../../support/retention/retention.js';
import { startServer } from '../../support/servers/server.js';

/** Operations of a story, in a long run and in a short one. */
const [MANY, FEW] = [320, 100];
/** Stories on one database, one after the other; the last verification reads all of them. */
const STORIES_PER_DATABASE = 20;
/** Of so many stories one has its entries swept before it ends, and those of all before it. */
const STORIES_PER_RETENTION = 4;
/** In a short run, what depends on luck may not come up. */
const STORIES_FOR_LUCK = 10;
const ERASED = 'values erased';
const NEVER_BY_LUCK = ['operations', KILLED, SWEPT, VERIFIED, MOSTLY_REPLAYED, OUTCOMES.right];

/**
 * Random stories over two servers: calls, questions, decisions by people of every role, and everything that changes what these rest on,
 * several at a time; servers are killed and come back, values are erased, retention runs. The logs of a story's organizations are verified
 * at its end, and before entries are swept; the whole log of a database at the end of its last story.
 */
export const proof: Proof = {
  name: 'honest',
  title: 'A history that nobody tampered with is never called so, whatever went on in it.',
  longCount: 300,
  shortCount: 1,
  needs: 'database',
  run: async ({ count, seed, progress }) => {
    const random = generator(seed);
    const counted = [...NEVER_BY_LUCK, ...Object.values(OUTCOMES), ERASED, ...OPERATION_NAMES];
    const coverage: Record<string, number> = Object.fromEntries(counted.map((name) => [name, 0]));
    let checked = 0;
    let counterexample: string | undefined;
    while (checked < count && counterexample === undefined) {
      const stories = Math.min(STORIES_PER_DATABASE, count - checked);
      const operations = count > 1 ? MANY : FEW;
      counterexample = await wrongOnDatabase({ random, coverage, stories, operations, reported: () => progress(++checked) });
    }
    if (count < STORIES_FOR_LUCK) {
      for (const what of counted) if (coverage[what] === 0 && !NEVER_BY_LUCK.includes(what)) delete coverage[what];
    }
    return { checked, coverage, ...(counterexample === undefined ? {} : { counterexample }) };
  },
};

interface Stories {
  readonly random: () => number;
  readonly coverage: Record<string, number>;
  readonly stories: number;
  readonly operations: number;
  reported(): void;
}

async function wrongOnDatabase({ random, coverage, stories, operations, reported }: Stories): Promise<string | undefined> {
  const receiver = await startReceiver();
  const folder = await archiveFolder();
  const env = {
    AUDIT_ARCHIVE: folder, AUDIT_CHECKPOINT_SECONDS: '1', INTERNAL_API_KEY: INTERNAL_KEY, OUTBOUND_ALLOW: receiver.destination,
  };
  const one = await startServer({ env });
  try {
    const other = await startServer({ env, replicaOf: one });
    try {
      const surroundings: Surroundings = { servers: [one, other], away: new Set(), receiver, coverage };
      for (let story = 0; story < stories; story++) {
        const archive = (story + 1) % STORIES_PER_RETENTION === 0 || stories === 1 ? folder : undefined;
        const wrong = await wrongInStory(surroundings, { operations, archive, random: generator(random() * 2 ** 32) });
        if (wrong !== undefined) return `story ${story + 1} of its database: ${wrong}`;
        reported();
      }
      await erased(one);
      for (const { counts } of await erasuresOf(asRoot(one))) coverage[ERASED]! += counts.values;
      const { wrong } = await verified(surroundings.servers, 'all');
      return wrong && `all ${stories} stories of a database together: ${wrong}`;
    } finally {
      await other.stop();
    }
  } finally {
    await one.stop();
    await receiver.close();
  }
}
