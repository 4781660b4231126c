// Agents whose nodes run, in a process of their own.
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Pool } from 'undici';
import { bodyOf } from '../../figures.js';
import { atFixedMoments, percentile } from '../../load/open-loop.js';
import type { HeardOf } from '../../load/nodes.js';
import type { StudyContext } from '../../study.js';
import { agentsWith, define } from './connector-study.js';

const NODES = fileURLToPath(new URL('../../load/nodes.js', import.meta.url));
const AGENTS = 200;
const CAPABILITY = 'bench.node';
export const PLAIN = 'bench.plain-node';
export const NEWS_PER_SECOND = 50;

export interface News {
  readonly executions: number;
  /** Milliseconds from the moment at which work was queued until its node had the answer to its poll. */
  readonly p50: number;
  readonly p99: number;
}

export class NodeScene {
  readonly capability = CAPABILITY;

  private constructor(
    private readonly context: StudyContext,
    private readonly nodes: ChildProcess,
    readonly tokens: readonly string[],
  ) {}

  static async open(context: StudyContext, progress: (share: number) => void): Promise<NodeScene> {
    const { stage, workFolder } = context;
    await define(stage, CAPABILITY, { type: 'node', timeoutSeconds: 30, idempotent: false });
    await define(stage, PLAIN, { type: 'http', method: 'POST', url: stage.receiverUrl, body: { order: '{input.query}' } });
    const tokens = await agentsWith(stage, [PLAIN, CAPABILITY], AGENTS, progress);
    const job = join(workFolder, 'nodes.json');
    writeFileSync(job, JSON.stringify({ url: stage.governed.url, tokens }));
    const nodes = fork(NODES, [job], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    await new Promise<void>((done, failed) => {
      let fresh = 0;
      nodes.on('message', () => ++fresh === tokens.length && done());
      nodes.once('exit', (code) => failed(new Error(`the nodes ended with ${code}`)));
    });
    return new NodeScene(context, nodes, tokens);
  }

  /** Calls at fixed moments, each of which a node does: how soon it hears of it. */
  async news(seconds: number): Promise<News> {
    const { url } = this.context.stage.governed;
    await this.heard();
    const pool = new Pool(url);
    await atFixedMoments(NEWS_PER_SECOND, seconds, async (n) => {
      const headers = { authorization: `Bearer ${this.tokens[n % this.tokens.length]}`, 'content-type': 'application/json' };
      const { statusCode, body } = await pool.request({ path: '/api/v1/execute', method: 'POST', headers, body: bodyOf(CAPABILITY) });
      const { status } = (await body.json()) as { status?: string };
      if (statusCode !== 200 || status !== 'executed') throw new Error(`node: a call was answered ${statusCode}, ${status}`);
    });
    await pool.destroy();
    const heard = new Map(await this.heard());
    const { rows } = await this.context.stage.database.query<{ id: string; at: Date }>(
      'select execution_id as id, queued_at as at from node_work where execution_id = any ($1)', [[...heard.keys()]]);
    const took = rows.map(({ id, at }) => heard.get(id)! - at.getTime()).sort((a, b) => a - b);
    return { executions: took.length, p50: percentile(took, 0.5), p99: percentile(took, 0.99) };
  }

  async close(): Promise<void> {
    this.nodes.kill('SIGTERM');
    if (this.nodes.exitCode === null) await once(this.nodes, 'exit');
  }

  private async heard(): Promise<HeardOf[]> {
    const answer = new Promise<HeardOf[]>((done) => {
      this.nodes.once('message', ({ value }: { value: HeardOf[] }) => done(value));
    });
    this.nodes.send('heard');
    return answer;
  }
}
