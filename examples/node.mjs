// A node: it polls for work of its agent, does it, and says what came of it. One file, Node's own modules alone; the journal makes that
// nothing is done twice and no result is lost when the node is killed, at whatever moment.
//
//   COUNTERSIGN_URL=https://… COUNTERSIGN_SETUP_TOKEN=svc_setup_… node examples/node.mjs      the first time
//   COUNTERSIGN_URL=https://… COUNTERSIGN_AGENT_KEY=svc_agent_…  node examples/node.mjs      or with a key of the agent
//
// NODE_ID names the machine, NODE_JOURNAL the file in which it writes down what it is at.
import { appendFileSync, closeSync, existsSync, fsyncSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';

const URL_OF_SERVICE = process.env.COUNTERSIGN_URL ?? 'http://localhost:3000';
const JOURNAL = process.env.NODE_JOURNAL ?? 'node-journal.jsonl';
const VERSION = 'example-1';
const LONG_POLL_SECONDS = 50;

/** What this node can do, by capability. Replace it by what yours does; throw to fail. */
const ACTIONS = {
  default: async (input) => ({ echo: input, at: new Date().toISOString() }),
};

let token = process.env.COUNTERSIGN_AGENT_KEY;
let expiresAt = Infinity;
let agentId;
let isEnding = false;
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => (isEnding = true));

await activate();
await settleJournal();
say(`ready at ${URL_OF_SERVICE}`);
while (!isEnding) {
  try {
    await work();
  } catch (error) {
    if (error.status === 401 || error.status === 403) throw error;
    say(`trouble, again in a second: ${error.message}`);
    await pause(1_000);
  }
}

/** Exchanges the setup token, which is good once, for a token of the agent; a key needs no exchange. */
async function activate() {
  if (token !== undefined) return;
  const setupToken = process.env.COUNTERSIGN_SETUP_TOKEN;
  if (setupToken === undefined) throw new Error('Give COUNTERSIGN_SETUP_TOKEN or COUNTERSIGN_AGENT_KEY.');
  const reply = await call('/node/activate', { token: setupToken, nodeId: process.env.NODE_ID ?? hostname() });
  ({ token } = reply);
  agentId = reply.agent.id;
  expiresAt = Date.parse(reply.expiresAt);
}

/** A token is refreshed before it ends. It dies for good where somebody ends the agent's tokens. */
async function refresh() {
  if (expiresAt - Date.now() > 5 * 60_000) return;
  const reply = await call(`/agents/${agentId}/token/refresh`);
  ({ token } = reply);
  expiresAt = Date.parse(reply.expiresAt);
}

async function work() {
  await refresh();
  const { cancelled } = await call('/node/heartbeat', { load: 0, version: VERSION });
  if (cancelled.length > 0) say(`not wanted any more: ${cancelled.join(', ')}`);
  const leased = await call(`/node/tasks/lease?wait=${LONG_POLL_SECONDS}`);
  if (leased === undefined) return;
  const { id, fence, capability } = leased.task;
  // Written down before the start: whoever finds it without a result after a crash cannot know whether it was begun.
  note({ id, fence, state: 'starting' });
  let started;
  try {
    started = await call(`/node/tasks/${id}/start`, { fence });
  } catch (error) {
    // Refused, so nothing was handed out. Of any other error nobody knows whether the work was started.
    if (error.status === 409 || error.status === 404) return note({ id, fence, state: 'over' });
    return settle({ id, fence, result: { status: 'indeterminate', error: { message: `The start was not answered: ${error.message}` } } });
  }
  await settle({ id, fence, result: await resultOf(capability, started.task) });
}

async function resultOf(capability, task) {
  const act = ACTIONS[capability] ?? ACTIONS.default;
  try {
    return { status: 'executed', output: (await act(task.input, task)) ?? null };
  } catch (error) {
    return { status: 'failed', error: { message: String(error.message ?? error).slice(0, 2_000) || 'unknown' } };
  }
}

/** Says a result until somebody has taken it, or says for good that nobody does. It is written down before. */
async function settle({ id, fence, result }) {
  note({ id, fence, state: 'done', result });
  for (let wait = 200; ; wait = Math.min(wait * 2, 10_000)) {
    try {
      const { late } = await call(`/node/tasks/${id}/result`, { fence, ...result });
      say(`${id}: ${result.status}${late ? ', too late' : ''}`);
      return note({ id, fence, state: 'over' });
    } catch (error) {
      if (error.status === 404 || error.status === 409) {
        say(`${id}: nobody waits for this result: ${error.message}`);
        return note({ id, fence, state: 'over' });
      }
      if (error.status === 401 || error.status === 403) throw error;
      await pause(wait);
    }
  }
}

/** After a restart: results that nobody has taken are said again; what was begun without one, nobody knows. */
async function settleJournal() {
  if (!existsSync(JOURNAL)) return;
  const open = new Map();
  for (const line of readFileSync(JOURNAL, 'utf8').split('\n')) {
    const entry = readLine(line);
    if (entry?.state === 'over') open.delete(entry.id);
    else if (entry) open.set(entry.id, entry);
  }
  const lost = { status: 'indeterminate', error: { message: 'The node was restarted while it was at it.' } };
  for (const { id, fence, result } of open.values()) await settle({ id, fence, result: result ?? lost });
  writeFileSync(JOURNAL, '');
}

/** The last line of a journal may be half of one. */
function readLine(line) {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

function note(entry) {
  const file = openSync(JOURNAL, 'a', 0o600);
  appendFileSync(file, `${JSON.stringify(entry)}\n`);
  fsyncSync(file);
  closeSync(file);
}

/** @returns the body; undefined for an answer without one. @throws Error with `status`, and the service's own words */
async function call(path, body = {}) {
  const response = await fetch(`${URL_OF_SERVICE}/api/v1${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout((LONG_POLL_SECONDS + 20) * 1_000),
  });
  const text = await response.text();
  if (response.ok) return text === '' ? undefined : JSON.parse(text);
  throw Object.assign(new Error(problemIn(text) ?? `status ${response.status}`), { status: response.status });
}

function problemIn(text) {
  try {
    const { title, detail } = JSON.parse(text);
    return detail ?? title;
  } catch {
    return undefined;
  }
}

function say(text) {
  process.stdout.write(`${new Date().toISOString()} ${text}\n`);
}
