import { asAgent, asRoot, type Client } from '../../support/http/actors.js';
import { anAgent, type BuiltAgent } from '../../support/builders/agents.js';
import { type Ended, execute, teamMates } from '../../support/builders/counting-scenario.js';
import { aTeam, firstOrganization } from '../../support/builders/people.js';
import type { Proof } from '../../support/proofs/proof.js';
import { generator } from '../../support/proofs/races.js';
import { startServer, type TestServer } from '../../support/servers/server.js';

const CAPABILITY = 'web.search';
const CALLS = 64;
const MATES = 10;

interface Surroundings {
  readonly servers: readonly [TestServer, TestServer];
  readonly alone: BuiltAgent;
  readonly teamId: string;
  readonly mates: readonly BuiltAgent[];
}

/** What one round tries: who calls under a grant of which limit, and what is done to the requests that wait. */
interface Round {
  readonly holder: 'one agent' | 'a team';
  readonly measure: 'calls' | 'a sum';
  readonly then: 'block' | 'propose';
  /** The grant's own mode: what is within the limit runs, or waits for a person. */
  readonly hitlMode: 'auto' | 'propose';
  /** Calls that fit. */
  readonly fits: number;
  /** So many calls, each under a key that one or more of them have. */
  readonly keys: number;
  readonly rejecting: boolean;
}

/**
 * Calls over two servers, by one agent or by ten that share their team's grant, race for what a limit leaves, with retries
 * and rejections among them. However they fall, exactly what fits goes through, and what is counted is what is there.
 */
export const proof: Proof = {
  name: 'limit-race',
  title: 'Parallel calls never pass a limit together, nor do the agents of a shared grant, and no share is lost.',
  longCount: 200,
  needs: 'database',
  run: async ({ count, seed, progress }) => {
    const coverage: Record<string, number> =
      { 'one agent': 0, 'a team': 0, calls: 0, 'a sum': 0, 'went through': 0, 'past the limit': 0, rejected: 0 };
    const random = generator(seed);
    const one = await startServer();
    try {
      const other = await startServer({ replicaOf: one });
      try {
        const around = await prepared([one, other]);
        for (let checked = 0; checked < count;) {
          const counterexample = await round(around, drawn(random, checked), random, coverage);
          progress(++checked);
          if (counterexample !== undefined) return { checked, counterexample, coverage };
        }
        const valid = (await asRoot(one).get('/api/v1/audit/verify')).expect(200).at('valid') === true;
        return { checked: count, coverage, ...(valid ? {} : { counterexample: 'the log does not verify' }) };
      } finally {
        await other.stop();
      }
    } finally {
      await one.stop();
    }
  },
};

async function prepared(servers: readonly [TestServer, TestServer]): Promise<Surroundings> {
  const [server] = servers;
  const alone = await anAgent(server).granted(CAPABILITY).create();
  const teamId = await aTeam(server, await firstOrganization(server));
  const body = { teamId, capability: CAPABILITY, hitlMode: 'auto' };
  (await asRoot(server).post('/api/v1/capabilities/grant', body)).expect(201);
  return { servers, alone, teamId, mates: await teamMates(server, teamId, MATES) };
}

/** Holder, measure and mode go round, so that the short form has met each; the rest is drawn. */
function drawn(random: () => number, nth: number): Round {
  const hitlMode = nth % 4 === 1 || nth % 4 === 2 ? 'propose' : 'auto';
  return {
    holder: nth % 2 === 0 ? 'one agent' : 'a team',
    measure: nth % 4 < 2 ? 'calls' : 'a sum',
    hitlMode,
    // Under a grant that asks anyway, asking past the limit is no difference to be seen.
    then: hitlMode === 'propose' || random() < 0.5 ? 'block' : 'propose',
    fits: nth % 8 === 7 ? Math.floor(random() * 2) : 2 + Math.floor(random() * 11),
    keys: CALLS - Math.floor(random() * 32),
    rejecting: hitlMode === 'propose' && (nth < 4 || random() < 0.7),
  };
}

let made = 0;

async function round(around: Surroundings, tried: Round, random: () => number, coverage: Record<string, number>) {
  const grantId = await grantAnew(around, tried);
  const clients = callers(around, tried);
  const prefix = `round-${made++}`;
  const rejected = new Set<string>();
  const all = await Promise.all(Array.from({ length: CALLS }, async (_, i) => {
    const input = tried.measure === 'a sum' ? { amount: 0.1 } : {};
    // A key is its agent's: retries come from the same one, over either server.
    const key = i % tried.keys;
    const mate = clients[key % clients.length]!;
    const ended = await execute(mate[Math.floor(random() * 2)]!, CAPABILITY, input, `${prefix}-${key}`);
    const chosen = tried.rejecting && (rejected.size === 0 || random() < 0.4);
    if (chosen && ended.hitlRequestId !== undefined) await reject(around, ended, rejected);
    return ended;
  }));
  const distinct = new Map(all.map((ended) => [ended.executionId!, ended]));
  if (distinct.size !== tried.keys) return reported(tried, `${tried.keys} keys made ${distinct.size} executions`);
  coverage[tried.holder]! += 1;
  coverage[tried.measure]! += 1;
  coverage.rejected! += rejected.size;
  return judged(around, tried, grantId, rejected.size, coverage);
}

async function judged(around: Surroundings, tried: Round, grantId: string, rejected: number,
  coverage: Record<string, number>): Promise<string | undefined> {
  const [server] = around.servers;
  const [seen] = await server.sql<{ through: number; waiting: number; blocked: number }>(
    `select count(*) filter (where status = 'executed')::integer as through,
       count(*) filter (where status = 'pending_hitl')::integer as waiting,
       count(*) filter (where status = 'blocked')::integer as blocked
     from executions where grant_id = $1`, [grantId]);
  const { through, waiting, blocked } = seen!;
  const within = Math.min(tried.fits, tried.keys);
  coverage['went through']! += tried.hitlMode === 'auto' ? through : waiting;
  coverage['past the limit']! += tried.then === 'block' ? blocked : waiting;
  if (tried.hitlMode === 'auto' && through !== within) return reported(tried, `${through} began, ${within} fit`);
  if (tried.hitlMode === 'propose' && (waiting > within || waiting + rejected < within)) {
    return reported(tried, `${waiting} wait, ${rejected} were rejected, ${within} fit`);
  }
  const [counted] = await server.sql<{ uses: string; total: string }>(
    `select coalesce((select sum(amount) from grant_uses where grant_id = $1), 0)::text as uses,
       coalesce((select sum(amount) from grant_totals where grant_id = $1), 0)::text as total`, [grantId]);
  const share = tried.measure === 'a sum' ? 0.1 : 1;
  const wanted = ((through + waiting) * share).toFixed(1);
  if (Number(counted!.uses).toFixed(1) !== wanted || Number(counted!.total) !== Number(counted!.uses)) {
    return reported(tried, `counted ${counted!.uses} and in total ${counted!.total}, where ${wanted} are there`);
  }
  return undefined;
}

/** Revoked and granted anew, so that nothing of the last round counts. */
async function grantAnew({ servers: [server], alone, teamId }: Surroundings, tried: Round): Promise<string> {
  const root = asRoot(server);
  const holder: Record<string, string> = tried.holder === 'a team' ? { teamId } : { agentId: alone.id };
  const [former] = (await root.get('/api/v1/capabilities/grants', { query: { ...holder, capability: CAPABILITY } }))
    .list('grants') as { id: string }[];
  (await root.delete(`/api/v1/capabilities/grant/${former!.id}`)).expect(204);
  const limit = tried.measure === 'a sum'
    ? { max: tried.fits / 10, per: 'hour', sum: 'input.amount', then: tried.then }
    : { max: tried.fits, per: 'total', then: tried.then };
  const body = { ...holder, capability: CAPABILITY, hitlMode: tried.hitlMode, limits: [limit] };
  return (await root.post('/api/v1/capabilities/grant', body)).expect(201).text('grant.id');
}

/** Each caller over both servers. */
function callers({ servers, alone, mates }: Surroundings, { holder }: Round): (readonly Client[])[] {
  return (holder === 'a team' ? mates : [alone]).map(({ token }) =>
    servers.map((server) => asAgent(server, token)));
}

async function reject({ servers }: Surroundings, { hitlRequestId }: Ended, rejected: Set<string>): Promise<void> {
  if (rejected.has(hitlRequestId!)) return;
  rejected.add(hitlRequestId!);
  for (let attempt = 0; ; attempt++) {
    const reply = await asRoot(servers[rejected.size % 2]!).post(`/api/v1/hitl/${hitlRequestId}/reject`);
    if (reply.status === 503 && attempt < 20) continue;
    reply.expect(200);
    return;
  }
}

function reported(tried: Round, what: string): string {
  return `${what}: ${JSON.stringify(tried)}`;
}
