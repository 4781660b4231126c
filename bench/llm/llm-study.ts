// What a governed call to a model costs: beside a governed call of another kind, beside another gateway, and beside a bare pipe.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadPhase, median } from '../measure.js';
import { residentBytes } from '../processes.js';
import { cell, whole } from '../report.js';
import { agentsWith, define } from '../studies/agents/connector-study.js';
import { assertExecuted, callsOf, inTurn, type Round, ratios, ratioText, sidesTable } from '../studies/agents/in-turn.js';
import type { Studied, Study, StudyContext } from '../study.js';
import { startPortkey } from './portkey.js';
import { readAnswers, type ReadOrder, type ReadResult } from './read-answers.js';

const AGENTS = 200;
const CAPABILITY = 'llm:invoke';
const PLAIN = 'bench.plain-llm';
const CONNECTIONS = 32;
const STREAMS = 32;
const CHUNKS = 200;
/** Of about 200 bytes each. */
const CHUNKS_OF_A_MEGABYTE = 5_000;
const LARGE_STREAMS = 64;
const LEAVERS = 16;
const MIB = 1024 * 1024;

type Side = 'ours' | 'plain' | 'portkey';
const NAMES = { ours: 'call to a model', plain: 'http connector', portkey: '@portkey-ai/gateway' } as const;

export const llmStudy: Study = {
  key: 'llm',
  onlyWhenNamed: true,
  run: async (context) => {
    const { stage, progress, options, workFolder } = context;
    progress.begin('Calls to models: agents', 1);
    await define(stage, PLAIN, { type: 'http', method: 'POST', url: stage.receiverUrl, body: { order: '{input.query}' } });
    const tokens = await agentsWith(stage, [PLAIN, CAPABILITY], AGENTS, (share) => progress.to(share));
    const portkey = await startPortkey(new URL('/v1', stage.receiverUrl).href, workFolder);
    try {
      const scene = new Scene(context, tokens, portkey);
      const count = options.pairs;
      progress.begin('Calls to models, 32 connections', 3 * (count + 1));
      const many = await inTurn(scene.calls(CONNECTIONS), count, () => progress.step());
      progress.begin('Calls to models, one connection', 3 * (count + 1));
      const one = await inTurn(scene.calls(1), count, () => progress.step());
      progress.begin('Streams of models', 2 * (count + 1) + 3);
      const streams = await scene.streams(count, () => progress.step());
      progress.begin('Memory of calls to models', 1);
      const memory = await scene.memory((share) => progress.to(share));
      const left = { streams: await scene.left(true), whole: await scene.left(false) };
      await assertClosed(context);
      return described({ many, one, streams, memory, left });
    } finally {
      await portkey.stop();
    }
  },
};

class Scene {
  private readonly prompt = promptOf2KB();

  constructor(
    private readonly context: StudyContext,
    private readonly tokens: readonly string[],
    private readonly portkey: Awaited<ReturnType<typeof startPortkey>>,
  ) {}

  calls(connections: number): Readonly<Record<Side, () => ReturnType<ReturnType<typeof callsOf>>>> {
    const { stage, load, options } = this.context;
    const order = { tokens: this.tokens, body: this.body({}), connections };
    const run = async (name: string, pid: number, url: string, headers = {}) =>
      (await loadPhase(stage, pid, name, { ...order, url, headers }, load, options)).phase;
    return {
      ours: () => run('calls to a model', stage.governed.pid, this.url('governed')),
      plain: callsOf({ ...this.context, options: { ...options, connections } }, PLAIN, this.tokens),
      portkey: () => run('Portkey', this.portkey.pid, `${this.portkey.url}/v1/chat/completions`, this.portkey.headers),
    };
  }

  /** Streams beside a bare pipe; then, alone, how soon the first piece comes, and a whole answer. */
  async streams(count: number, done: () => void) {
    const { options: { seconds } } = this.context;
    const rounds: Record<'ours' | 'bare', ReadResult>[] = [];
    for (let round = 0; round <= count; round++) {
      const found = {} as Record<'ours' | 'bare', ReadResult>;
      for (const side of round % 2 === 0 ? (['ours', 'bare'] as const) : (['bare', 'ours'] as const)) {
        found[side] = await this.read({ lanes: STREAMS, seconds, body: this.body({ stream: true, max_tokens: CHUNKS }) }, side);
        done();
      }
      if (round > 0) rounds.push(found);
    }
    const firsts: number[] = [];
    for (let round = 0; round < 3; round++) {
      const { first } = await this.read({ lanes: 1, seconds, body: this.body({ stream: true, max_tokens: CHUNKS }) });
      const { whole: answer } = await this.read({ lanes: 1, seconds, body: this.body({}) });
      firsts.push(first / answer);
      done();
    }
    const large = await this.grown(() =>
      this.read({ lanes: LARGE_STREAMS, seconds: 0, body: this.body({ stream: true, max_tokens: CHUNKS_OF_A_MEGABYTE }) }));
    return { rounds, firsts, large };
  }

  /** Of the server's process, after a tenth of the calls and after all. */
  async memory(done: (share: number) => void): Promise<{ readonly calls: number; readonly early: number; readonly late: number }> {
    const { stage, load, options } = this.context;
    const order = { tokens: this.tokens, body: this.body({}), connections: CONNECTIONS, url: this.url('governed') };
    let [calls, early] = [0, 0];
    while (calls < options.calls) {
      calls += (await load.run({ ...order, seconds: 2 })).requests;
      if (early === 0 && calls >= options.calls / 10) early = residentBytes(stage.governed.pid) ?? 0;
      done(Math.min(1, calls / options.calls));
    }
    return { calls, early, late: residentBytes(stage.governed.pid) ?? 0 };
  }

  /** How long after its client a call has left its provider, in milliseconds; the longest of some. */
  async left(stream: boolean): Promise<number> {
    const before = (await this.leftAt()).length;
    const { lefts } = await this.read({ lanes: LEAVERS, seconds: 0, isLeft: true, body: this.body({ stream, max_tokens: 1 }) });
    let after = await this.leftAt();
    while (after.length < before + LEAVERS) after = await this.leftAt();
    return Math.max(...after.slice(before)) - Math.min(...lefts);
  }

  private async leftAt(): Promise<readonly number[]> {
    return (await (await fetch(new URL('/left', this.context.stage.receiverUrl))).json()) as number[];
  }

  private read(order: Omit<ReadOrder, 'url' | 'tokens'>, side: 'ours' | 'bare' = 'ours'): Promise<ReadResult> {
    return readAnswers({ ...order, tokens: this.tokens, url: this.url(side === 'ours' ? 'governed' : 'bare') }, this.context.workFolder);
  }

  /** By how much the server's process grows meanwhile, at most. */
  private async grown(work: () => Promise<ReadResult>): Promise<{ readonly bytes: number; readonly grown: number }> {
    const memory = () => residentBytes(this.context.stage.governed.pid) ?? 0;
    const before = memory();
    let most = before;
    const sampling = setInterval(() => (most = Math.max(most, memory())), 50);
    const { bytes } = await work();
    clearInterval(sampling);
    return { bytes, grown: most - before };
  }

  private url(side: 'governed' | 'bare'): string {
    return `${this.context.stage[side].url}/api/v1/${side === 'governed' ? 'llm/chat/completions' : 'pipe'}`;
  }

  private body(more: object): string {
    return JSON.stringify({ model: 'gpt-bench', messages: [{ role: 'user', content: this.prompt }], ...more });
  }
}

/** What a model is asked about a customer: prose, and in it an address. */
function promptOf2KB(): string {
  const prose = readFileSync(join(process.cwd(), 'README.md'), 'utf8').replaceAll('"', "'").replace(/[^ -~]/g, ' ');
  return `Answer ada.lovelace@analytical.example. ${prose}`.slice(0, 2 * 1024);
}

/** Calls whose client has gone have failed, all others have not. */
async function assertClosed({ stage }: StudyContext): Promise<void> {
  await assertExecuted(stage, PLAIN);
  const { rows } = await stage.database.query<{ code: string; count: number }>(
    `select error ->> 'code' as code, count(*)::integer as count from executions
     where capability = $1 and status not in ('executed', 'running') group by 1`, [CAPABILITY]);
  if (rows.some(({ code }) => code !== 'CLIENT_CLOSED')) throw new Error(`${CAPABILITY}: ${JSON.stringify(rows)}`);
}

interface Found {
  readonly many: readonly Round<Side>[];
  readonly one: readonly Round<Side>[];
  readonly streams: Awaited<ReturnType<Scene['streams']>>;
  readonly memory: Awaited<ReturnType<Scene['memory']>>;
  readonly left: { readonly streams: number; readonly whole: number };
}

function described({ many, one, streams, memory, left }: Found): Studied {
  const [toPlain, toPortkey] = [ratios(many, 'ours', 'plain'), ratios(many, 'ours', 'portkey')];
  const latency = median(one.map(({ ours, plain }) => ours.p50 / plain.p50));
  const pipe = streams.rounds.map(({ ours, bare }) => ours.perSecond / bare.perSecond);
  const perSecond = (side: 'ours' | 'bare') => whole(median(streams.rounds.map((round) => round[side].perSecond)));
  const first = median(streams.firsts);
  const text = [
    '',
    `  Calls to a model, ${CONNECTIONS} connections: ${ratioText(toPlain)} the http connector, ${ratioText(toPortkey)} Portkey`, '',
    ...sidesTable(many, NAMES), '',
    `  One connection: ${cell(latency, 2)} × the latency of the http connector`, '', ...sidesTable(one, NAMES), '',
    `  ${STREAMS} streams: ${cell(median(pipe), 2)} × a bare pipe (${cell(Math.min(...pipe), 2)} to ${cell(Math.max(...pipe), 2)}): ` +
      `${perSecond('ours')} and ${perSecond('bare')} chunks/s; first piece ${cell(first, 2)} × the time of a whole answer`,
    `  ${LARGE_STREAMS} streams at once, ${cell(streams.large.bytes / MIB, 0)} MiB in all: + ${cell(streams.large.grown / MIB, 0)} MiB`,
    `  Memory after ${whole(memory.calls)} calls: ${cell(memory.late / memory.early, 2)} × after a tenth of them ` +
      `(${cell(memory.early / MIB, 0)} and ${cell(memory.late / MIB, 0)} MiB)`,
    `  A client leaves: its model is told after ${cell(left.streams, 0)} ms in the middle of a stream, ` +
      `${cell(left.whole, 0)} ms before an answer`,
    '',
  ].join('\n');
  return { text, values: { figure: 'llm', toPlain, toPortkey, latency, pipe, first, large: streams.large, memory, left, many, one } };
}
