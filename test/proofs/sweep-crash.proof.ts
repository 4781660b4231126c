import { spawn } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { anAgent, type BuiltAgent } from '../support/builders.js';
import { eventually } from '../support/eventually.js';
import type { Proof } from '../support/proof.js';
import { generator, pause } from '../support/races.js';
import { aged, archiveFolder, brokenArchives, sweepEnvironment, swept, wholeLog, type Kept } from '../support/retention.js';
import { startServer, type TestServer } from '../support/server.js';
import { CHECKOUT } from '../support/test-run.js';

const FEWEST_KILLS = 3;
/** In a short run, what depends on luck may not come up. */
const KILLS_FOR_LUCK = 30;
const CALLS = 40;
const LATEST_MS = 500;
const STATES = ['writing', 'verified', 'recorded', 'done'] as const;

interface World {
  readonly server: TestServer;
  readonly agents: readonly BuiltAgent[];
  readonly archive: string;
  readonly random: () => number;
  readonly coverage: Record<string, number>;
}

/**
 * Entries are made and made old; whoever sweeps, the server that has come to lead or the command, is killed at a random moment after
 * it began; the next one finishes. Nothing may then be lost, stand in two places, or be left over.
 */
export const proof: Proof = {
  name: 'sweep-crash',
  title: 'Whatever moment a sweep is killed at: archive and log together hold every entry once, and nothing is left half-done.',
  longCount: 50,
  needs: 'database',
  run: async ({ count, seed, progress }) => {
    const kills = Math.max(count, FEWEST_KILLS);
    const coverage: Record<string, number> = { 'a server was killed': 0, 'the command was killed': 0 };
    for (const state of STATES) coverage[`left ${state}`] = 0;
    const archive = await archiveFolder();
    const server = await startServer({ env: { AUDIT_CHECKPOINT_SECONDS: '1', AUDIT_RETENTION_DAYS: '3660', AUDIT_ARCHIVE: archive } });
    try {
      const agents = await Promise.all([0, 1, 2].map(() => anAgent(server).granted('web.search').create()));
      const world = { server, agents, archive, random: generator(seed), coverage };
      let counterexample: string | undefined;
      for (let kill = 0; kill < kills && counterexample === undefined; kill++) {
        counterexample = await round(world, kill);
        progress(kill + 1);
      }
      counterexample ??= (await brokenArchives(archive))[0];
      if (kills < KILLS_FOR_LUCK) for (const [what, times] of Object.entries(coverage)) if (times === 0) delete coverage[what];
      return { checked: kills, counterexample, coverage };
    } finally {
      await server.stop();
    }
  },
};

async function round(world: World, kill: number): Promise<string | undefined> {
  const { server, agents, archive, coverage } = world;
  for (let n = 0; n < CALLS; n += agents.length) {
    const call = { capability: 'web.search', input: { q: `${kill} ${n}` } };
    await Promise.all(agents.map(({ client }) => client.post('/api/v1/execute', call)));
  }
  await aged(server.database);
  const before = await wholeLog(server.database, archive);
  if (kill % 2 === 0) {
    await server.kill();
    await server.restart();
    await killedWhileSweeping(world, () => server.kill());
    coverage['a server was killed']!++;
    await server.restart();
  } else {
    const env = sweepEnvironment(server.database, archive);
    const command = spawn(process.execPath, [join(CHECKOUT, 'bin', 'countersign.mjs'), 'audit', 'sweep', '--at-once', '20'], {
      cwd: CHECKOUT, env: { PATH: process.env.PATH, ...env }, stdio: 'ignore',
    });
    const gone = new Promise<void>((resolve) => command.once('exit', () => resolve()));
    await killedWhileSweeping(world, async () => {
      command.kill('SIGKILL');
      await gone;
    });
    coverage['the command was killed']!++;
  }
  for (const { state } of await server.sql<{ state: string }>(`select distinct state from audit_sweeps`)) coverage[`left ${state}`]!++;
  return finished(world, before);
}

/** A random while after a sweep of this round was seen in a state, or all were over. */
async function killedWhileSweeping({ server, random }: World, kill: () => Promise<void>): Promise<void> {
  const [{ count }] = (await server.sql<{ count: string }>('select count(*) from audit_sweeps')) as [{ count: string }];
  const state = STATES[Math.floor(3 * random())];
  const seen = `select count(*) as all, count(*) filter (where state = $1) as wanted, count(*) filter (where state <> 'done') as open
    from audit_sweeps`;
  await eventually(async () => {
    const [row] = await server.sql<{ all: string; wanted: string; open: string }>(seen, [state]);
    const isOver = row!.open === '0' && row!.all !== count;
    if (row!.wanted === '0' && !isOver) throw new Error('not there yet');
  }, { within: 30_000, every: 1 });
  // Each state is over soon.
  await pause(LATEST_MS * random() ** 4);
  await kill();
}

/** Lets what was cut off be finished, and looks at what is there. */
async function finished({ server, archive }: World, before: readonly Kept[]): Promise<string | undefined> {
  await eventually(() => swept(server.database, archive), { within: 60_000, every: 500 });
  const after = await wholeLog(server.database, archive);
  const ids = new Set(after.map(({ id }) => id));
  if (ids.size !== after.length) return 'an entry stands in two places';
  const known = new Set(before.map(({ id }) => id));
  const still = after.filter(({ id }) => known.has(id));
  if (JSON.stringify(still) !== JSON.stringify(before)) return `of ${before.length} entries ${still.length} are there, or some changed`;
  for (const [n, { organization, chain, seq }] of after.entries()) {
    const last = after[n - 1];
    const isNext = last?.organization !== organization || last.chain !== chain || last.seq + 1 === seq;
    if (!isNext) return `chain ${chain} has a hole before ${seq}`;
  }
  const sweeps = await server.sql<{ id: string; state: string }>('select id, state from audit_sweeps');
  const undone = sweeps.find(({ state }) => state !== 'done');
  if (undone) return `sweep ${undone.id} is still ${undone.state}`;
  for (const organization of await readdir(archive)) {
    for (const id of await readdir(join(archive, organization))) {
      if (!sweeps.some((one) => one.id === id)) return `the archive holds ${id}, which no sweep knows`;
    }
  }
  return undefined;
}
