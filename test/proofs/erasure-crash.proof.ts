import { as } from '../support/actors.js';
import { aLogOf, begin, type ErasureWorld, snapshot, whatErasuresLeft } from '../support/erasure-rounds.js';
import { verification } from '../support/erasures.js';
import { eventually } from '../support/eventually.js';
import type { Proof } from '../support/proof.js';
import { generator, pause } from '../support/races.js';
import { startServer, type TestServer } from '../support/server.js';

const FEWEST_KILLS = 4;
/** In a short run, what depends on luck may not come up. */
const KILLS_FOR_LUCK = 20;
const LONGEST_BEFORE_THE_KILL_MS = 250;
const PHASES = ['subjects', 'log', 'rows', 'archive', 'check'] as const;

/** Two servers share a database; one or both are killed while people are erased, one after the other, and come back. */
export const proof: Proof = {
  name: 'erasure-crash',
  title: 'Whenever a server is killed during an erasure: it ends, the log verifies, what was to go is gone, and nothing else is.',
  longCount: 50,
  needs: 'database',
  run: async ({ count, seed, progress }) => {
    const kills = Math.max(count, FEWEST_KILLS);
    const coverage: Record<string, number> = { 'killed while it ran': 0, 'both killed': 0, 'values': 0, 'user': 0 };
    for (const phase of PHASES) coverage[`in ${phase}`] = 0;
    const one = await startServer();
    try {
      const other = await startServer({ replicaOf: one });
      try {
        const world = await aLogOf(one, kills);
        const before = await snapshot(one);
        const random = generator(seed);
        for (let kill = 0; kill < kills; kill++) {
          await round([one, other], world, kill, random, coverage);
          progress(kill + 1);
        }
        await settled(one, world);
        const texts = world.people.flatMap((person) => person.texts);
        const { wrong, blanked } = whatErasuresLeft(before, await snapshot(one), texts);
        const verdict = await verification(one);
        if (!verdict.valid) wrong.push(`the log does not verify: ${JSON.stringify(verdict.breaks.slice(0, 3))}`);
        const kept = await one.sql('select id from erasures where texts is not null');
        if (kept.length > 0) wrong.push(`${kept.length} erasures still know what they searched for`);
        coverage['values blanked'] = blanked;
        if (kills < KILLS_FOR_LUCK) for (const [what, times] of Object.entries(coverage)) if (times === 0) delete coverage[what];
        return { checked: kills, counterexample: wrong[0], coverage };
      } finally {
        await other.stop();
      }
    } finally {
      await one.stop();
    }
  },
};

async function round(
  servers: readonly [TestServer, TestServer], { people, admins }: ErasureWorld, kill: number, random: () => number,
  coverage: Record<string, number>,
): Promise<void> {
  const [server] = servers;
  const person = people[kill]!;
  coverage[person.kind]! += 1;
  const victims = random() < 0.4 ? servers : [servers[Math.floor(random() * 2)]!];
  if (victims.length > 1) coverage['both killed']! += 1;
  const known = await erasures(server);
  // A server that dies gives no answer, and nobody waits for one.
  begin(as(server, admins[0]), person).catch(() => undefined);
  await eventually(async () => {
    if ((await erasures(server)).length === known.length) throw new Error('nothing was asked for');
  }, { within: 30_000, every: 10 });
  await pause(random() * LONGEST_BEFORE_THE_KILL_MS);
  await Promise.all(victims.map((victim) => victim.kill()));
  const running = (await erasures(server)).filter(({ state }) => state === 'running');
  if (running.length > 0) coverage['killed while it ran']! += 1;
  for (const { phase } of running) coverage[`in ${phase}`]! += 1;
  await Promise.all(victims.map((victim) => back(victim)));
}

/** On a busy machine a start may take too long; further tries are no part of the claim. */
async function back(server: TestServer, tries = 4): Promise<void> {
  await server.restart().catch((error: unknown) => {
    if (tries === 1) throw error;
    return back(server, tries - 1);
  });
}

/** Every erasure has ended; what waits for a second person gets one. */
async function settled(server: TestServer, { admins: [, second] }: ErasureWorld): Promise<void> {
  await eventually(async () => {
    const open = (await erasures(server)).filter(({ state }) => state !== 'done');
    for (const { id, state } of open) {
      if (state === 'unconfirmed') (await as(server, second).post(`/api/v1/audit/erasures/${id}/confirm`)).expect(200);
    }
    if (open.length > 0) throw new Error(`${open.length} erasures have no end, the first is ${JSON.stringify(open[0])}`);
  }, { within: 90_000, every: 250 });
}

function erasures(server: TestServer): Promise<{ id: string; state: string; phase: string }[]> {
  return server.sql(`select id, state, place ->> 'phase' as phase from erasures order by id`);
}
