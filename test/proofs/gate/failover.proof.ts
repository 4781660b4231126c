import { anAgent } from '../../support/builders/agents.js';
import { defineCapability } from '../../support/builders/gate.js';
import { type Acknowledged, governedLoad, noneAcknowledged } from '../../support/failover/governed-load.js';
import { allReady, type FailoverScene, failoverScene } from '../../support/failover/failover-scene.js';
import { anonymous } from '../../support/http/actors.js';
import { type Receiver, startReceiver } from '../../support/http/receiver.js';
import { allSigned } from '../../support/log/exports.js';
import type { Proof } from '../../support/proofs/proof.js';
import { generator, pause } from '../../support/proofs/races.js';
import { eventually } from '../../support/running/eventually.js';
import { countersign } from '../../support/servers/command-line.js';
import { TEST_ENVIRONMENT } from '../../support/servers/test-run.js';

const AGENTS = 8;
const CAPABILITIES = ['web.search', 'crm.push'];

/**
 * The primary's postmaster is killed while agents call; the synchronous standby is promoted, and the address moves to it. What was answered
 * must be there, and what was called may have been called once. Nothing tells the servers.
 */
export const proof: Proof = {
  name: 'failover',
  title: 'Whenever a primary dies and its synchronous standby takes over: no acknowledged call is lost, none runs twice, the log verifies.',
  longCount: 20,
  shortCount: 2,
  needs: 'database',
  run: async ({ count, seed, progress }) => {
    const receiver = await startReceiver();
    const random = generator(seed);
    const scene = await failoverScene({ OUTBOUND_ALLOW: receiver.destination });
    try {
      const { servers, pair } = scene;
      const connector = { type: 'http', method: 'POST', url: receiver.url, body: '{input}' };
      await defineCapability(servers[0], 'crm.push', { connector });
      const builders = Array.from({ length: AGENTS }, () => anAgent(servers[0]).granted('web.search').granted('crm.push').create());
      const agents = await Promise.all(builders);
      const acknowledged = noneAcknowledged(servers);
      const pauses: number[] = [];
      let [checked, early, wrong]: [number, number, string | undefined] = [0, 0, undefined];
      while (checked < count && wrong === undefined) {
        await pair.addStandby(`standby-${checked}`);
        await pair.synchronous();
        const load = governedLoad(servers, agents, CAPABILITIES, acknowledged);
        await pause(500 + random() * 1_500);
        const isEarly = checked % 2 === 1;
        if (isEarly) early++;
        pauses.push(await failover(scene, acknowledged, isEarly));
        await pause(500);
        await load.end();
        wrong = await whatIsLost(scene, acknowledged, receiver);
        progress(++checked);
      }
      wrong ??= await quietFailover(scene);
      pauses.sort((a, b) => a - b);
      return {
        checked, ...(wrong === undefined ? {} : { counterexample: `failover ${checked}: ${wrong}` }),
        coverage: {
          'calls acknowledged': acknowledged.executions.size, 'calls made again': acknowledged.repeated,
          'times that the address led to the standby before it was promoted': early, 'connectors called': receiver.requests.length,
          'ms until both servers answered on the new primary, median': median(pauses),
          'ms, the longest': pauses.at(-1) ?? 0,
        },
      };
    } finally {
      await scene.stop();
      await receiver.close();
    }
  },
};

/**
 * @param isEarly the address leads to the standby while that is read-only
 * @returns milliseconds from the moment at which the address leads to the new primary until both servers have answered a call by 200
 */
async function failover({ pair, address, servers }: FailoverScene, { answeredAt }: Acknowledged, isEarly: boolean): Promise<number> {
  await pair.primary.kill();
  if (isEarly) {
    address.move(pair.standby.port);
    await pause(1_000);
  }
  await pair.exchange();
  // Connections that were made to the standby go on at what it has become.
  if (!isEarly) address.move(pair.primary.port);
  const moved = performance.now();
  const firsts = await Promise.all(servers.map((server) => eventually(() => {
    const first = answeredAt.get(server)!.find((at) => at > moved);
    if (first === undefined) throw new Error('a server answers no call on the new primary');
    return first;
  }, { within: 60_000 })));
  await allReady(servers);
  return Math.round(Math.max(...firsts) - moved);
}

async function whatIsLost(
  { database, servers }: FailoverScene, { executions }: Acknowledged, receiver: Receiver,
): Promise<string | undefined> {
  const recorded = await database.sql<{ id: string; entries: number }>(
    `select e.payload::json #>> '{metadata,executionId}' as id, count(*)::integer as entries from audit_entries e
     where e.event in ('execution.started', 'execution.completed') group by 1`);
  const entriesOf = new Map(recorded.map(({ id, entries }) => [id, entries]));
  const lost = [...executions].filter(([, id]) => entriesOf.get(id) !== 2);
  if (lost.length > 0) return `${lost.length} acknowledged calls are not in the log with start and end, the first is ${lost[0]!.join(' ')}`;
  const [twice] = await database.sql<{ input: string }>('select input from executions group by input having count(*) > 1');
  if (twice !== undefined) return `a call became two executions: ${twice.input}`;
  const calls = receiver.requests.map(({ headers }) => String(headers['idempotency-key']));
  const unknown = calls.find((id) => !entriesOf.has(id));
  if (unknown !== undefined) return `the connector was called for ${unknown}, of which the log knows nothing`;
  if (new Set(receiver.requests.map(({ body }) => body)).size < calls.length) return 'the connector was called twice for one call';
  await allSigned(servers[0]);
  return verified(database.url, database.anchors);
}

async function verified(databaseUrl: string, anchors: string): Promise<string | undefined> {
  const env = { DATABASE_URL: databaseUrl, AUDIT_ANCHORS: anchors, AUDIT_SIGNING_KEY: TEST_ENVIRONMENT.AUDIT_SIGNING_KEY! };
  return eventually(async () => {
    const { code, stdout, stderr } = await countersign(['audit', 'verify', '--no-remember', '--json'], env);
    if (code === 2) throw new Error(stderr);
    return code === 0 ? undefined : `the log does not verify: ${stdout.slice(0, 2_000)}`;
  }, { within: 30_000 });
}

/** While nobody calls: nothing is taken for unanchored that has no entry. */
async function quietFailover({ pair, address, servers }: FailoverScene): Promise<string | undefined> {
  await pair.addStandby('standby-quiet');
  await pair.synchronous();
  await allSigned(servers[0]);
  await pause(2_500);
  await pair.primary.kill();
  await pair.exchange();
  address.move(pair.primary.port);
  await allReady(servers);
  await pause(6_000);
  const ages = await Promise.all(servers.map(async (server) => {
    const { body } = (await anonymous(server).get<{ unanchoredSeconds: number }>('/health/ready')).expect(200);
    return body.unanchoredSeconds;
  }));
  return ages.some((age) => age > 3) ? `without an entry, ${ages.join(' and ')} s count as unanchored` : undefined;
}

function median(sorted: readonly number[]): number {
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}
