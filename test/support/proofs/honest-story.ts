import { RECORD_KEEPERS } from '../../../src/cli/verification/verify-log.js';
import { logCheckOf } from '../../../src/modules/audit/verification/log-checks.js';
import type { Verification } from '../../../src/modules/audit/verification/verification-result.js';
import { UnderWay } from '../../../src/platform/database/transaction/plan.js';
import { verifyDatabase } from '../../../src/modules/audit/verification/verify-database.js';
import { aged, swept } from '../retention/retention.js';
import { back, type TestServer } from '../servers/server.js';
import { anyOperation, liftStop } from './honest-operations.js';
import { honestScenario, type HonestScenario, type Surroundings } from './honest-scenario.js';
import { generator, oneOf, pause } from './races.js';

export interface HonestStory {
  readonly operations: number;
  /** Where archives are, if retention runs before the story ends. */
  readonly archive?: string | undefined;
  readonly random: () => number;
}

/** What is counted beside operations. */
export const [KILLED, SWEPT] = ['servers killed', 'entries swept'];
export const OUTCOMES = {
  right: 'decisions replayed: right', erased: 'decisions not replayable: erased', swept: 'decisions not replayable: swept',
  limits: 'decisions not replayable: counted by a limit',
};
export const [VERIFIED, MOSTLY_REPLAYED] = ['verifications', 'verifications that could replay most decisions'];

/** How many do something at a time. */
const [LEAST_AT_ONCE, MOST_AT_ONCE] = [4, 12];
/** A server is killed somewhere in here, and perhaps another time; late enough for work to be there, early enough to see it go on. */
const KILLS = { from: 0.1, to: 0.7, again: 0.25 };
/** Where retention runs: what comes before is verified first, what comes later runs beside. */
const RETENTION = { from: 0.7, to: 0.95 };
const OUTBOUND_MS = 60;

/**
 * A tenant's story, several operations at a time; servers are killed and come back meanwhile. What its organizations' logs tell is verified
 * at the end, and before entries are swept.
 *
 * @returns what is wrong with its log, if anything
 */
export async function wrongInStory(surroundings: Surroundings, story: HonestStory): Promise<string | undefined> {
  const { operations, archive, random } = story;
  const within = ({ from, to }: { from: number; to: number }) => Math.floor(operations * (from + random() * (to - from)));
  const scenario = await honestScenario(surroundings, random);
  const delays = generator(random() * 2 ** 32);
  surroundings.receiver.standing(() => ({ delayMs: delays() * OUTBOUND_MS, body: { ok: true } }));
  const { goOnTo, kills } = operationsOf(scenario);
  for (let once = true; once || random() < KILLS.again; once = false) kills.add(within(KILLS));
  if (archive !== undefined) {
    await goOnTo(within(RETENTION));
    const wrong = await replayed(scenario);
    if (wrong !== undefined) return `before retention ran: ${wrong}`;
    await aged(surroundings.servers[0]!.database);
  }
  await Promise.all([archive !== undefined && retentionRun(scenario, archive), goOnTo(operations)]);
  // A stop of everything would hold the next story, too.
  while (scenario.stops.mayBe) await liftStop(scenario);
  return replayed(scenario);
}

/** Each operation has chances of its own: what it does depends on what was done before, and not on who was quicker. */
function operationsOf(scenario: HonestScenario): { goOnTo(end: number): Promise<void>; readonly kills: Set<number> } {
  const { random, coverage } = scenario;
  const kills = new Set<number>();
  let begun = 0;
  const worker = async (end: number) => {
    while (begun < end) {
      const operation = anyOperation({ ...scenario, random: generator(random() * 2 ** 32) });
      coverage['operations']! += 1;
      if (kills.delete(begun++)) await Promise.all([operation, killed(scenario)]);
      else await operation;
    }
  };
  return {
    kills,
    goOnTo: async (end) => {
      const atOnce = LEAST_AT_ONCE + Math.floor(random() * (MOST_AT_ONCE - LEAST_AT_ONCE + 1));
      await Promise.all(Array.from({ length: atOnce }, () => worker(end)));
    },
  };
}

/** Unless the other one is away. Those who are at work go on at the other. */
async function killed({ servers, away, random, coverage }: HonestScenario): Promise<void> {
  const server = oneOf(servers, random);
  if (away.size > 0) return;
  away.add(server);
  await server.kill();
  coverage[KILLED]! += 1;
  await back(server);
  away.delete(server);
}

/** Servers look for runs that were cut short, and hold the lock of retention for that long. */
async function retentionRun({ servers: [server], coverage }: HonestScenario, archive: string): Promise<void> {
  for (;;) {
    try {
      for (const { entries } of await swept(server!.database, archive)) coverage[SWEPT]! += entries;
      return;
    } catch (error) {
      if (!(error instanceof UnderWay)) throw error;
      await pause(200);
    }
  }
}

/** Counts the decisions of a tenant by what came of them: after retention, those that were left are met once more. */
async function replayed({ servers, organizations, coverage }: HonestScenario): Promise<string | undefined> {
  const { members, wrong } = await verified(servers, organizations);
  const { right, notReplayable } = members['replay'] as { right: number; notReplayable: Record<string, number> };
  const outcomes = Object.entries({ right, ...notReplayable });
  for (const [outcome, count] of outcomes) coverage[OUTCOMES[outcome as keyof typeof OUTCOMES]]! += count;
  coverage[VERIFIED]! += 1;
  if (right * 2 > outcomes.reduce((sum, [, count]) => sum + count, 0)) coverage[MOSTLY_REPLAYED]! += 1;
  return wrong;
}

/** Verifies a database, or some organizations in it, as a server does. `wrong` says what is wrong, if anything. */
export async function verified(
  [server]: readonly TestServer[], organizations: readonly string[] | 'all',
): Promise<{ readonly members: Verification['members']; readonly wrong: string | undefined }> {
  const { members, breaks, breaksFound } = await verifyDatabase({
    databaseUrl: server!.database.url, organizations, threads: 0,
    check: (run, source) => logCheckOf(run, source, RECORD_KEEPERS, { organizations }),
  });
  return { members, wrong: breaks.length === 0 ? undefined : `${breaksFound} breaks: ${JSON.stringify(breaks.slice(0, 3))}` };
}
