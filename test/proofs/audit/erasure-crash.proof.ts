import { as } from '../../support/http/actors.js';
import { aLogOf, begin, type ErasureScenario, snapshot, whatErasuresLeft } from '../../support/erasure/erasure-rounds.js';
import { verification } from '../../support/erasure/erasures.js';
import { whileCaught } from '../../support/running/captured-output.js';
import { eventually } from '../../support/running/eventually.js';
import type { Proof } from '../../support/proofs/proof.js';
import { generator, pause } from '../../support/proofs/races.js';
import { archiveFolder, inArchives, verifiedArchives } from '../../support/retention/retention.js';
import { back, startServer, type TestServer } from '../../support/servers/server.js';

const FEWEST_KILLS = 4;
/** In a short run, what depends on luck may not come up. */
const KILLS_FOR_LUCK = 20;
const LONGEST_BEFORE_THE_KILL_MS = 120;
const BOTH_KILLED = 0.15;
/** Of what one asks for alone a day's hundred values may go. */
const ASKED_BY_ONE = 6;
const PHASES = ['subjects', 'log', 'rows', 'archive', 'check'] as const;

/**
 * Two servers share a database of which one half was swept; one or both are killed while people are erased, one after the other, in
 * each phase of an erasure, and come back.
 */
export const proof: Proof = {
  name: 'erasure-crash',
  title: 'Whenever a server is killed during an erasure: it ends, the log verifies, what was to go is gone, and nothing else is.',
  longCount: 50,
  needs: 'database',
  run: async ({ count, seed, progress }) => {
    const kills = Math.max(count, FEWEST_KILLS);
    const coverage: Record<string, number> = { 'killed while it ran': 0, 'both killed': 0, 'values': 0, 'user': 0 };
    for (const phase of PHASES) coverage[`in ${phase}`] = 0;
    const archive = await archiveFolder();
    const env = { AUDIT_ARCHIVE: archive, AUDIT_CHECKPOINT_SECONDS: '1' };
    const one = await startServer({ env });
    try {
      const other = await startServer({ replicaOf: one, env });
      try {
        const scenario = await aLogOf(one, kills, archive);
        const before = await snapshot(one, archive);
        const random = generator(seed);
        for (let kill = 0; kill < kills; kill++) {
          await round([one, other], scenario, kill, random, coverage);
          progress(kill + 1);
        }
        await settled(one, scenario);
        const texts = scenario.people.flatMap((person) => person.texts);
        const { wrong, blanked } = whatErasuresLeft(before, await snapshot(one, archive), texts);
        const verdict = await verification(one);
        if (!verdict.valid) wrong.push(`the log does not verify: ${JSON.stringify(verdict.breaks.slice(0, 3))}`);
        const archives = await verifiedArchives(one.database, archive);
        if (!archives.valid) wrong.push(`the archives do not verify: ${JSON.stringify(archives.breaks.slice(0, 3))}`);
        wrong.push(...(await inArchives(archive, texts)).map((text) => `the archive's bytes hold ${text}`));
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
  servers: readonly [TestServer, TestServer], { people, admins }: ErasureScenario, kill: number, random: () => number,
  coverage: Record<string, number>,
): Promise<void> {
  const [server] = servers;
  const person = people[kill]!;
  coverage[person.kind]! += 1;
  const victims = random() < BOTH_KILLED ? servers : [servers[Math.floor(random() * 2)]!];
  if (victims.length > 1) coverage['both killed']! += 1;
  // Who erases much alone needs a second person: each asks for a few.
  const asker = admins[Math.floor(kill / ASKED_BY_ONE) % admins.length]!;
  const known = (await erasures(server)).map(({ id }) => id);
  // A server that dies gives no answer, and nobody waits for one.
  begin(as(server, asker), person).catch(() => undefined);
  const phases = person.kind === 'user' ? PHASES : PHASES.slice(1);
  const phase = phases[Math.floor(random() * phases.length)]!;
  const kills = async () => {
    await pause(random() ** 2 * LONGEST_BEFORE_THE_KILL_MS);
    await Promise.all(victims.map((victim) => victim.kill()));
  };
  const there = `select from erasures where not id = any ('{${known.join()}}') and (place ->> 'phase' = '${phase}' or state <> 'running')`;
  // Half of them cannot leave the phase, the others may be anywhere in it, or behind it.
  if (random() < 0.5) await whileCaught(server.database, `${there} for update`, kills);
  else {
    await eventually(async () => {
      if ((await server.sql(there)).length === 0) throw new Error(`nothing is in ${phase}`);
    }, { every: 1 });
    await kills();
  }
  const running = (await erasures(server)).filter(({ state }) => state === 'running');
  if (running.length > 0) coverage['killed while it ran']! += 1;
  for (const { phase } of running) coverage[`in ${phase}`]! += 1;
  await Promise.all(victims.map((victim) => back(victim)));
}

/** Every erasure has ended; what waits for a second person gets one. */
async function settled(server: TestServer, { second }: ErasureScenario): Promise<void> {
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
