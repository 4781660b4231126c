// What an agent's own node costs, how soon it hears of work, and what a thousand that wait take.
import { setTimeout as delay } from 'node:timers/promises';
import { Pool } from 'undici';
import { residentBytes } from '../../processes.js';
import type { Goal } from '../../goals.js';
import { cell, whole } from '../../report.js';
import type { Study, StudyContext } from '../../study.js';
import { callsOf, inTurn, ratios, ratioText, sidesTable } from './in-turn.js';
import { NEWS_PER_SECOND, NodeScene, PLAIN } from './node-scene.js';

const WAIT_SECONDS = 45;
const SETTLE_MS = 5_000;
const LOOKS = 50;
const LOOK_EVERY_MS = 100;

export const nodeStudy: Study = {
  key: 'node',
  onlyWhenNamed: true,
  run: async (context) => {
    const { progress, options } = context;
    progress.begin('Nodes that wait', 1);
    const waiting = await waitingNodes(context);
    progress.begin('Nodes: agents', 1);
    const scene = await NodeScene.open(context, (share) => progress.to(share));
    try {
      const count = Math.ceil(options.pairs / 2);
      progress.begin('An execution by a node', 2 * (count + 1) + 1);
      const { capability, tokens } = scene;
      const sides = { node: callsOf(context, capability, tokens), plain: callsOf(context, PLAIN, tokens) };
      const rounds = await inTurn(sides, count, () => progress.step());
      const news = await scene.news(options.seconds * 4);
      const found = ratios(rounds, 'node', 'plain');
      const text = [
        '', `  An execution by a node, from long poll to result: ${ratioText(found)} the http connector`, '',
        ...sidesTable(rounds, { node: 'node', plain: 'http connector' }), '',
        `  From work that is queued until a waiting node has it: p50 ${cell(news.p50)} ms, p99 ${cell(news.p99)} ms, of `
          + `${whole(news.executions)} at ${NEWS_PER_SECOND} a second.`,
        `  ${whole(waiting.nodes)} nodes that wait: ${whole(waiting.busy)} database connections in use in the middle of ${LOOKS} looks `
          + `(${whole(waiting.busyAtMost)} at most), memory + ${cell(waiting.grownBy / 2 ** 20)} MiB.`, '',
      ].join('\n');
      const goals: Goal[] = [
        { what: 'an execution by a node, to the http connector', value: found.ratio, wanted: 0.35 },
        { what: 'news at a waiting node, p99', value: news.p99, wanted: 100, bound: 'most', unit: 'ms' },
        { what: 'nodes that wait, memory', value: waiting.grownBy / 2 ** 20, wanted: 50, bound: 'most', unit: 'MiB' },
      ];
      return { text, values: { figure: 'node', ...found, rounds, news, waiting }, goals };
    } finally {
      await scene.close();
    }
  },
};

interface Waiting {
  readonly nodes: number;
  /** Connections of the server that were not idle: in the middle of the looks, and at most. */
  readonly busy: number;
  readonly busyAtMost: number;
  /** Resident memory of the server, in bytes. */
  readonly grownBy: number;
}

/** The agents' nodes wait for work that does not come. */
async function waitingNodes({ stage, tokens }: StudyContext): Promise<Waiting> {
  const { url, pid } = stage.governed;
  // What a first poll makes ready is there before.
  await poll(new Pool(url), tokens[0]!, 0);
  await delay(SETTLE_MS);
  const before = residentBytes(pid) ?? NaN;
  const pool = new Pool(url, { connections: tokens.length, headersTimeout: 120_000 });
  const polls = Promise.all(tokens.map((token) => poll(pool, token, WAIT_SECONDS)));
  await delay(SETTLE_MS);
  const looks: number[] = [];
  while (looks.length < LOOKS) {
    const { rows } = await stage.database.query<{ busy: number }>(
      `select count(*)::integer as busy from pg_stat_activity
       where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid() and state <> 'idle'`);
    looks.push(rows[0]!.busy);
    await delay(LOOK_EVERY_MS);
  }
  const grownBy = (residentBytes(pid) ?? NaN) - before;
  await polls;
  await pool.destroy();
  looks.sort((a, b) => a - b);
  return { nodes: tokens.length, busy: looks[LOOKS >> 1]!, busyAtMost: looks.at(-1)!, grownBy };
}

async function poll(pool: Pool, token: string, wait: number): Promise<void> {
  const path = `/api/v1/node/tasks/lease?wait=${wait}`;
  const { statusCode, body } = await pool.request({ path, method: 'POST', headers: { authorization: `Bearer ${token}` } });
  await body.dump();
  if (statusCode !== 204) throw new Error(`node: a poll was answered ${statusCode}`);
}
