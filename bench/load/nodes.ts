// Nodes of agents, all in one process: each polls, starts what it gets, does nothing, and answers. When it was told of what is kept, and
// handed out on demand.
import { readFileSync } from 'node:fs';
import { Pool } from 'undici';

/** `at`: when the answer to the poll was there, in milliseconds since the epoch. */
export type HeardOf = readonly [executionId: string, at: number];

const WAIT_SECONDS = 50;

process.once('disconnect', () => process.exit(1));
process.once('SIGTERM', () => process.exit(0));
const { url, tokens } = JSON.parse(readFileSync(process.argv[2]!, 'utf8')) as { url: string; tokens: readonly string[] };
const pool = new Pool(url, { connections: tokens.length * 2, headersTimeout: 120_000 });
const heard: HeardOf[] = [];

interface Task {
  readonly id: string;
  readonly fence: number;
}

async function node(token: string): Promise<void> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const call = async (path: string, content?: object) => {
    const { statusCode, body } = await pool.request({
      path: `/api/v1/node${path}`, method: 'POST', headers, ...(content === undefined ? {} : { body: JSON.stringify(content) }),
    });
    const text = await body.text();
    if (statusCode !== 200 && statusCode !== 204) throw new Error(`${path} was answered ${statusCode}: ${text}`);
    return text === '' ? undefined : (JSON.parse(text) as { task?: Task });
  };
  await call('/heartbeat', {});
  process.send!({ kind: 'fresh' });
  for (;;) {
    const task = (await call(`/tasks/lease?wait=${WAIT_SECONDS}`))?.task;
    if (task === undefined) continue;
    heard.push([task.id, Date.now()]);
    await call(`/tasks/${task.id}/start`, { fence: task.fence });
    await call(`/tasks/${task.id}/result`, { fence: task.fence, status: 'executed', output: { done: true } });
  }
}

process.on('message', () => process.send!({ kind: 'heard', value: heard.splice(0) }));
await Promise.all(tokens.map(node));
