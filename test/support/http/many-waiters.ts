import { Agent, request } from 'node:http';
import { asRoot } from './actors.js';
import { anAgent, type BuiltAgent } from '../builders/agents.js';
import { inParallel } from '../proofs/in-lanes.js';
import { done, made, pause } from '../proofs/races.js';
import type { TestServer } from '../servers/server.js';

/** Below the 64 that a principal may have on one server. */
const EACH = 60;
const OPENED_AT_ONCE = 50;
/** Calls that prepare and decide: far fewer than the server has connections to its database. */
const TOGETHER = 4;
/** Other calls that the server answers while they wait. */
const OTHER_CALLS = 20;

export interface ManyWaiters {
  /** How many calls were held at once. */
  readonly held: number;
  /** Of those, how many were told of the decision. */
  readonly notified: number;
  /** How many had lost their credential, and were told so and nothing else. */
  readonly shutOut: number;
  /** What was not as it should be, in words. */
  readonly faults: readonly string[];
  /** Looks at the database's connections while all waited. */
  readonly looks: number;
}

/**
 * So many calls wait on one server, for requests that are decided on another. Each waits for a shorter time than it takes a
 * waiter to look for itself, so whoever is told of the decision was woken by the news.
 *
 * @param pool how many connections to the database the server may have
 */
export async function manyWaiters(here: TestServer, there: TestServer, count: number, pool: number): Promise<ManyWaiters> {
  const seconds = Math.min(54, Math.floor(0.74 * Math.max(10, count / 100)));
  const agents = await inParallel(TOGETHER, [...Array(Math.ceil(count / EACH)).keys()], () => made(() =>
    anAgent(here).granted('email.send', { hitlMode: 'propose' }).create()));
  const asked = await inParallel(TOGETHER, agents, async (agent) =>
    (await done(() => agent.client.post('/api/v1/execute', { capability: 'email.send' }))).expect(202).text('hitlRequestId'));
  const answers: Promise<Answer>[] = [];
  let answered = 0;
  for (let i = 0; i < count; i++) {
    const at = Math.floor(i / EACH);
    const answer = wait(there, agents[at]!, asked[at]!, seconds);
    answers.push(answer);
    void answer.then(() => answered++);
    if (i % OPENED_AT_ONCE === OPENED_AT_ONCE - 1) await pause(100);
  }
  await pause(500);
  const faults: string[] = [];
  const looks = await connectionsRest(there, pool, faults);
  for (let call = 0; call < OTHER_CALLS; call++) {
    // Waiters that held the pool would hold it for longer than this is asked again.
    const { status } = await done(() => asRoot(there).get(`/api/v1/agents/${agents[call % agents.length]!.id}`));
    if (status !== 200) faults.push(`a call beside them was answered ${status}`);
  }
  const held = count - answered;
  // The first agent's tokens end before its request is decided.
  (await done(() => asRoot(here).delete(`/api/v1/agents/${agents[0]!.id}/tokens`))).expect(204);
  await inParallel(TOGETHER, asked, async (id) => (await done(() => asRoot(here).post(`/api/v1/hitl/${id}/reject`))).expect(200));
  const all = await Promise.all(answers);
  let notified = 0;
  let shutOut = 0;
  for (const [i, { status, body }] of all.entries()) {
    if (i < EACH) {
      if (status === 401 && !body.includes('rejected')) shutOut++;
      else faults.push(`whoever had lost their token was answered ${status} ${body}`);
    } else if (status === 200 && (JSON.parse(body) as { status: string }).status === 'rejected') notified++;
    else faults.push(`waiter ${i} was answered ${status} ${body}`);
  }
  return { held, notified, shutOut, faults, looks };
}

/** Connections that a server keeps beside its pool, for the sweeper and readiness. */
const RESERVE = 3;

/** Nobody who waits has a connection: among some looks there are such at which all rest, and none stays open in a transaction. */
async function connectionsRest(server: TestServer, pool: number, faults: string[]): Promise<number> {
  let resting = 0;
  let looks = 0;
  for (; looks < 40 && resting < 5; looks++) {
    const [row] = await server.sql<{ all: number; busy: number; open: number }>(
      `select count(*)::integer as all, (count(*) filter (where state = 'active'))::integer as busy,
         (count(*) filter (where state like 'idle in transaction%'))::integer as open
       from pg_stat_activity where datname = current_database() and application_name = 'countersign'`);
    if (row!.busy === 0 && row!.open === 0) resting++;
    const most = 2 * (pool + RESERVE);
    if (row!.all > most) faults.push(`two servers have ${row!.all} connections, and not ${most} at most`);
    await pause(25);
  }
  if (resting < 5) faults.push(`at ${looks - resting} of ${looks} looks connections were at work`);
  return looks;
}

interface Answer {
  readonly status: number;
  readonly body: string;
}

/** A connection that is reset while thousands are being made was not accepted: it is made again. */
async function wait(server: TestServer, agent: BuiltAgent, id: string, seconds: number): Promise<Answer> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await waitOnce(server, agent, id, seconds);
    } catch (error) {
      if (attempt === 3) return { status: 0, body: String(error) };
      await pause(200);
    }
  }
}

/** One call on a connection of its own. */
function waitOnce(server: TestServer, agent: BuiltAgent, id: string, seconds: number): Promise<Answer> {
  const url = new URL(`/api/v1/hitl/${id}?wait=${seconds}`, server.url);
  return new Promise((resolve, reject) => {
    const sent = request(url, { headers: { authorization: `Bearer ${agent.token}` }, agent: new Agent() }, (response) => {
      let body = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        body += chunk;
      });
      response.once('end', () => resolve({ status: response.statusCode ?? 0, body }));
      response.once('error', reject);
    });
    sent.once('error', reject);
    sent.end();
  });
}
