import { as, type Reply } from '../../support/http/actors.js';
import { anAgent, type BuiltAgent } from '../../support/builders/agents.js';
import { rotateRootKey } from '../../support/servers/command-line.js';
import type { Proof, ProofResult } from '../../support/proofs/proof.js';
import { startServer, type TestServer } from '../../support/servers/server.js';
import { ROOT_KEY } from '../../support/servers/test-run.js';

const CALLERS_OF_EACH_KIND = 2;
/** Calls with the dead key that each caller makes before the next rotation. */
const CALLS_AFTER = 3;

type Call = (server: TestServer, key: string, agent: BuiltAgent) => Promise<Reply>;

const CALLS: Readonly<Record<string, Call>> = {
  'a read': (server, key) => as(server, key).get('/api/v1/agents', { query: { limit: 1 } }),
  'a change': (server, key, { id }) => as(server, key).patch(`/api/v1/agents/${id}`, { description: `at ${performance.now()}` }),
  'an execution': (server, key, { id }) => as(server, key).post('/api/v1/execute', { capability: 'web.search', agentId: id }),
};

/** One rotation as its callers know it. */
interface Turn {
  readonly key: string;
  /** Set once the stored hash was seen to be another: from here on whatever begins with the key must fail. */
  dead: boolean;
}

/**
 * Root calls of each kind run without a pause on two servers while the command replaces the key. A connection of our own
 * watches the stored hash, so that "after the commit" is the moment at which anybody could see it, not the command's end.
 */
export const proof: Proof = {
  name: 'key-rotation',
  title: 'No call that begins after the commit of a rotation is accepted with the old root key, on any server.',
  longCount: 250,
  shortCount: 3,
  needs: 'database',
  run: async ({ count, progress }) => {
    const one = await startServer();
    try {
      const other = await startServer({ replicaOf: one });
      try {
        const agents = await Promise.all(Array.from({ length: CALLERS_OF_EACH_KIND }, () => anAgent(one).granted('web.search').create()));
        return await rotations([one, other], agents, count, progress);
      } finally {
        await other.stop();
      }
    } finally {
      await one.stop();
    }
  },
};

async function rotations(
  servers: readonly TestServer[], agents: readonly BuiltAgent[], count: number, progress: (done: number) => void,
): Promise<ProofResult> {
  const coverage: Record<string, number> = {};
  for (const name of Object.keys(CALLS)) Object.assign(coverage, { [`${name} accepted before`]: 0, [`${name} refused after`]: 0 });
  let key = ROOT_KEY;
  let checked = 0;
  while (checked < count) {
    const turn: Turn = { key, dead: false };
    const callers = Object.entries(CALLS).flatMap(([name, call]) =>
      servers.flatMap((server) => agents.map((agent) => callOn(turn, name, () => call(server, turn.key, agent), coverage))));
    const [found, fresh] = await Promise.all([
      Promise.all(callers),
      rotateRootKey(servers[0]!.database.url).finally(() => (turn.dead = true)),
      hashChanges(servers[0]!, turn),
    ]);
    checked++;
    progress(checked);
    const counterexample = found.find((one) => one !== undefined) ?? (await refusedAnywhere(servers, fresh));
    if (counterexample !== undefined) return { checked, counterexample: `rotation ${checked}: ${counterexample}`, coverage };
    key = fresh;
  }
  return { checked, counterexample: await logOf(servers[0]!, key, count), coverage };
}

/** Calls again and again until the key is dead, and a few times more. */
async function callOn(
  turn: Turn, name: string, call: () => Promise<Reply>, coverage: Record<string, number>,
): Promise<string | undefined> {
  let found: string | undefined;
  for (let after = 0; after < CALLS_AFTER; ) {
    const begunDead = turn.dead;
    const { status, body } = await call();
    // Leaves the processor to the command now and then.
    await new Promise((resolve) => setTimeout(resolve, 2));
    if (begunDead) after++;
    if (status === 401) {
      if (begunDead) coverage[`${name} refused after`]! += 1;
    } else if (begunDead) found ??= `${name} with the old key, begun after the commit, was answered ${status}`;
    else if (status === 200) coverage[`${name} accepted before`]! += 1;
    // Turned away under load, which is no answer to the key.
    else if (status !== 503) found ??= `${name} was answered ${status}: ${JSON.stringify(body)}`;
  }
  return found;
}

async function hashChanges(server: TestServer, turn: Turn): Promise<void> {
  const read = async () => (await server.sql<{ hash: string }>('select root_key_hash as hash from instance'))[0]!.hash;
  const before = await read();
  while (!turn.dead) {
    if ((await read()) !== before) turn.dead = true;
    else await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

async function refusedAnywhere(servers: readonly TestServer[], key: string): Promise<string | undefined> {
  for (const server of servers) {
    const { status } = await as(server, key).get('/api/v1/agents');
    if (status !== 200) return `the new key was answered ${status} at ${server.url}`;
  }
  return undefined;
}

async function logOf(server: TestServer, key: string, count: number): Promise<string | undefined> {
  const root = as(server, key);
  const rotated = (await root.get('/api/v1/audit', { query: { event: 'admin.key_rotated', limit: 1 } })).expect(200).number('total');
  if (rotated !== count) return `the log tells of ${rotated} rotations, not of ${count}`;
  const verdict = (await root.get('/api/v1/audit/verify')).expect(200);
  return verdict.at('valid') === true ? undefined : `the log does not verify: ${JSON.stringify(verdict.at('breaks'))}`;
}
