import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { anAgent, type BuiltAgent } from '../../support/builders/agents.js';
import { whileCaught } from '../../support/running/captured-output.js';
import { eventually } from '../../support/running/eventually.js';
import type { Proof } from '../../support/proofs/proof.js';
import { done, generator, pause } from '../../support/proofs/races.js';
import { aged, archiveFolder, brokenArchives, verifiedArchives, wholeLog, type Kept } from '../../support/retention/retention.js';
import { back, startServer, type TestServer } from '../../support/servers/server.js';
import { aRetentionProcess, type RetentionProcess } from '../../support/retention/retention-processes.js';
import { verifiedLog } from '../../support/log/verified-log.js';

const FEWEST_KILLS = 3;
/** In a short run, what depends on luck may not come up. */
const KILLS_FOR_LUCK = 30;
/** Every so many rounds the server is what sweeps. */
const SERVER_EVERY = 8;
const CALLS = 18;
const AT_ONCE = 20;
const LATEST_MS = 120;
/** Archives that the stand-alone verifier looks at. */
const LOOKED_AT = 12;
/** The server sweeps what is there, in its rounds alone: beside it nobody could read log and archive of one moment. */
const SWEEPS = { AUDIT_RETENTION_DAYS: '0.00001' };
const OPEN = ['writing', 'verified', 'recorded'] as const;
type Open = (typeof OPEN)[number];

interface Scenario {
  readonly server: TestServer;
  readonly agents: readonly BuiltAgent[];
  readonly archive: string;
  /** Who finishes, and who is killed next: a new one is made while the rest goes on. */
  readonly finisher: RetentionProcess;
  victim: Promise<RetentionProcess>;
  readonly random: () => number;
  readonly coverage: Record<string, number>;
}

/**
 * Entries are made and made old; whoever sweeps, the server that has come to lead or the command, is killed in one of the states of a
 * sweep, a random while after it was seen there; the next one finishes. Nothing may then be lost, stand in two places, or be left over.
 */
export const proof: Proof = {
  name: 'sweep-crash',
  title: 'Whatever moment a sweep is killed at: archive and log together hold every entry once, and nothing is left half-done.',
  longCount: 50,
  needs: 'database',
  run: async ({ count, seed, progress }) => {
    const kills = Math.max(count, FEWEST_KILLS);
    const coverage: Record<string, number> = { 'a server was killed': 0, 'the command was killed': 0 };
    for (const state of OPEN) coverage[`left ${state}`] = 0;
    const archive = await archiveFolder();
    const server = await startServer({ env: { AUDIT_CHECKPOINT_SECONDS: '1', AUDIT_RETENTION_DAYS: '3660', AUDIT_ARCHIVE: archive } });
    try {
      const agents = await Promise.all([0, 1, 2].map(() => anAgent(server).granted('web.search').create()));
      const finisher = await aRetentionProcess(server.database, archive);
      const scenario: Scenario = {
        server, agents, archive, finisher, victim: aRetentionProcess(server.database, archive), random: generator(seed), coverage,
      };
      let counterexample: string | undefined;
      for (let kill = 0; kill < kills && counterexample === undefined; kill++) {
        counterexample = await round(scenario, kill);
        progress(kill + 1);
      }
      await Promise.all([finisher.kill(), scenario.victim.then((one) => one.kill())]);
      counterexample ??= await unsound(scenario);
      if (kills < KILLS_FOR_LUCK) for (const [what, times] of Object.entries(coverage)) if (times === 0) delete coverage[what];
      return { checked: kills, counterexample, coverage };
    } finally {
      await server.stop();
    }
  },
};

async function round(scenario: Scenario, kill: number): Promise<string | undefined> {
  const { server, agents, archive, coverage } = scenario;
  for (let n = 0; n < CALLS; n += agents.length) {
    const call = { capability: 'web.search', input: { q: `${kill} ${n}` } };
    await Promise.all(agents.map(async ({ client }) => (await done(() => client.post('/api/v1/execute', call))).expect(200)));
  }
  await aged(server.database);
  const before = await wholeLog(server.database, archive);
  const state = OPEN[kill % OPEN.length]!;
  const isServer = kill % SERVER_EVERY === SERVER_EVERY - 1;
  if (isServer) await server.kill();
  const victim = await scenario.victim;
  const command = { begin: () => Promise.resolve(victim.begin(AT_ONCE)), kill: () => victim.kill() };
  await killedIn(scenario, state, isServer ? { begin: () => back(server, SWEEPS), kill: () => server.kill() } : command);
  if (!isServer) scenario.victim = aRetentionProcess(server.database, archive);
  coverage[isServer ? 'a server was killed' : 'the command was killed']!++;
  for (const left of await server.sql<{ state: string }>(`select distinct state from audit_sweeps where state <> 'done'`)) {
    coverage[`left ${left.state}`]!++;
  }
  if (isServer) await back(server);
  return finished(scenario, before);
}

/** What a sweep needs to leave a state, so that it is met there: it may then be at anything that it does in that state. */
const NEEDED: Readonly<Record<Open, string>> = {
  writing: `select from audit_sweeps where state = 'writing' for update`,
  verified: `select from audit_heads where chain like 'sys\\_org%' for update`,
  recorded: `select from audit_entries where chain like 'agt%' order by seq limit 3 for update`,
};

async function killedIn(
  { server: { database }, random }: Scenario, state: Open, sweeper: { begin(): Promise<void>; kill(): Promise<void> },
): Promise<void> {
  const seen = () => eventually(async () => {
    const found = await database.sql('select id from audit_sweeps where state = $1', [state]);
    if (found.length === 0) throw new Error(`no sweep is ${state}`);
  }, { every: 1 });
  const soon = () => pause(LATEST_MS * random() ** 2);
  if (state === 'writing') {
    await sweeper.begin();
    // Half of them are at their writing, the other half has ended it.
    if (random() < 0.5) await seen().then(soon).then(() => sweeper.kill());
    else await whileCaught(database, NEEDED.writing, () => soon().then(() => sweeper.kill()));
    return;
  }
  await whileCaught(database, NEEDED[state], async () => {
    await sweeper.begin();
    await seen();
    await soon();
    await sweeper.kill();
  });
}

/** Lets what was cut off be finished, and looks at what is there. */
async function finished({ server, archive, finisher }: Scenario, before: readonly Kept[]): Promise<string | undefined> {
  await eventually(() => finisher.sweep(AT_ONCE), { every: 500 });
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

/** What is wrong with the archives, or with the log that is left, as those see it who verify them. */
async function unsound({ server: { database }, archive }: Scenario): Promise<string | undefined> {
  const archives = await verifiedArchives(database, archive);
  if (archives.breaks.length > 0) return `the archives do not verify: ${JSON.stringify(archives.breaks[0])}`;
  const { breaks: [first] } = await verifiedLog(database.url);
  if (first) return `the log does not verify: ${JSON.stringify(first)}`;
  return (await brokenArchives(archive, LOOKED_AT))[0];
}
