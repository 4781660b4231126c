// How soon an approved action is at its runtime: from sending the approval to the receiver's receipt of the call.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { Pool } from 'undici';
import { anAdmin, post } from '../callers.js';
import { bodyOf } from '../figures.js';
import { atFixedMoments, type OpenLoop, type OpenLoopResult, percentile, startOpenLoop } from '../load/open-loop.js';
import { cpuSeconds } from '../processes.js';
import type { Stage } from '../stage.js';

const CAPABILITY = 'bench.payment';
const AGENTS = 200;
const APPROVERS = 8;
export const APPROVALS_PER_SECOND = 50;
export const CALLS_PER_SECOND = 500;
/** What the gate is called with beside: a governed execution with a receipt. */
const BESIDE = 'web.search';
const TOO_LATE_MS = 100;
/** How long the last of them may take before the measurement is given up. */
const LATEST_MS = 60_000;
const LOAD_BEFORE_AND_AFTER_SECONDS = 2;

export type GateBeside = Omit<OpenLoopResult, 'each'>;

export interface ApprovalTimes {
  readonly approvals: number;
  /** Milliseconds from sending the approval to the receiver's receipt. */
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  readonly max: number;
  /** How many took longer than 100 ms. */
  readonly late: number;
  /** Milliseconds until the approval was answered, which by default waits for the action's outcome. */
  readonly answeredP50: number;
  readonly answeredP99: number;
  /** Beside it, where there were any: calls of the gate. */
  readonly gate?: GateBeside;
  /** Processor time an approval with all that follows it, in microseconds; where nothing else went on. */
  readonly serverCpu?: number;
  readonly databaseCpu?: number;
}

/** Everything that the figure needs besides the stage: agents that ask, people who approve, and a receiver in this process. */
export class ApprovalDesk {
  private readonly receipts = new Map<string, number[]>();
  private tokens: string[] = [];
  private keys: string[] = [];
  private asked = 0;

  private constructor(
    private readonly stage: Stage,
    private readonly workFolder: string,
  ) {}

  static async open(stage: Stage, workFolder: string, progress: (share: number) => void): Promise<ApprovalDesk> {
    const desk = new ApprovalDesk(stage, workFolder);
    const url = await desk.receive();
    await post(stage, '/api/v1/capabilities', {
      name: CAPABILITY, description: 'Payment that a person approves', defaultHitlMode: 'propose',
      connector: { type: 'http', method: 'POST', url, body: { order: '{input.query}', quantity: '{input.quantity}' } },
    });
    const grants = [BESIDE, CAPABILITY].map((capability) => ({ capability }));
    while (desk.tokens.length < AGENTS) {
      const name = `payer-${desk.tokens.length + 1}`;
      desk.tokens.push((await post<{ token: string }>(stage, '/api/v1/agents', { name, grants })).token);
      progress(desk.tokens.length / AGENTS);
    }
    for (let i = 0; i < APPROVERS; i++) desk.keys.push(await anAdmin(stage));
    return desk;
  }

  /** The same approvals with and without gate calls beside. Agents that ask are the agents that call. */
  async measure(seconds: number, beside: boolean, perSecond = APPROVALS_PER_SECOND): Promise<ApprovalTimes> {
    const asked = await this.ask(perSecond * seconds);
    const load = beside
      ? startOpenLoop(this.workFolder, {
          url: `${this.stage.governed.url}/api/v1/execute`, tokens: this.tokens, body: bodyOf(BESIDE),
          perSecond: CALLS_PER_SECOND, seconds: seconds + LOAD_BEFORE_AND_AFTER_SECONDS,
        })
      : undefined;
    // New for each stretch: the server closes connections that nobody has used for a while.
    const pool = new Pool(this.stage.governed.url);
    await load?.steady;
    const spentBefore = [cpuSeconds(this.stage.governed.pid), cpuSeconds(this.stage.databasePid, true)] as const;
    const sentAt: number[] = [];
    const answers: number[] = [];
    await atFixedMoments(perSecond, seconds, async (n) => {
      const begin = (sentAt[n] = performance.now());
      await approve(pool, asked[n]!.hitlRequestId, this.keys[n % this.keys.length]!);
      answers.push(performance.now() - begin);
    });
    for (const end = Date.now() + LATEST_MS; !asked.every(({ executionId }) => this.receipts.has(executionId)); await delay(20)) {
      if (Date.now() > end) throw new Error('approve: not every approved action was received');
    }
    await pool.destroy();
    const gate = await figuresOf(load);
    const each = (spent: number) => (spent / asked.length) * 1e6;
    const spent = {
      serverCpu: each(cpuSeconds(this.stage.governed.pid) - spentBefore[0]),
      databaseCpu: each(cpuSeconds(this.stage.databasePid, true) - spentBefore[1]),
    };
    const times = asked.map(({ executionId }, n) => {
      const receipts = this.receipts.get(executionId) ?? [];
      if (receipts.length !== 1) throw new Error(`approve: ${executionId} was received ${receipts.length} times`);
      return receipts[0]! - sentAt[n]!;
    });
    return { ...timesOf(times, answers), ...(gate ? { gate } : spent) };
  }

  private async ask(count: number): Promise<{ executionId: string; hitlRequestId: string }[]> {
    const asked: { executionId: string; hitlRequestId: string }[] = [];
    const next = async () => {
      for (let n = this.asked++; n < end; n = this.asked++) {
        const token = this.tokens[n % this.tokens.length]!;
        const body: unknown = JSON.parse(bodyOf(CAPABILITY));
        asked.push(await post(this.stage, '/api/v1/execute', body, { token, status: 202 }));
      }
    };
    const end = this.asked + count;
    await Promise.all(Array.from({ length: 16 }, next));
    this.asked = end;
    return asked;
  }

  /** In this process, so that sending and receipt are read from one clock. @returns its address */
  private async receive(): Promise<string> {
    const answer = '{"ok":true}';
    const server = createServer((call, response) => {
      const key = String(call.headers['idempotency-key']);
      this.receipts.set(key, [...(this.receipts.get(key) ?? []), performance.now()]);
      call.resume().once('end', () => {
        response.writeHead(200, { 'content-type': 'application/json', 'content-length': answer.length }).end(answer);
      });
    });
    await new Promise<void>((done) => void server.listen(0, '127.0.0.1', done));
    server.unref();
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/payments`;
  }
}

/** An approval is answered after 2 s, whatever has become of its action by then. @throws Error unless it was approved */
async function approve(pool: Pool, id: string, key: string): Promise<void> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const { statusCode, body } = await pool.request({
    path: `/api/v1/hitl/${id}/approve`, method: 'POST', headers, body: '{"note":"as agreed"}',
  });
  const text = await body.text();
  const answer = JSON.parse(text) as { request?: { status?: string } };
  if (statusCode === 200 && answer.request?.status === 'approved') return;
  throw new Error(`approve: an approval was answered ${statusCode} ${text.slice(0, 500)}`);
}

async function figuresOf(load: OpenLoop | undefined): Promise<GateBeside | undefined> {
  if (!load) return undefined;
  const { each: _, ...figures } = await load.result;
  return figures;
}

function timesOf(times: number[], answers: number[]): ApprovalTimes {
  times.sort((a, b) => a - b);
  answers.sort((a, b) => a - b);
  return {
    approvals: times.length, p50: percentile(times, 0.5), p95: percentile(times, 0.95), p99: percentile(times, 0.99), max: times.at(-1)!,
    late: times.filter((time) => time > TOO_LATE_MS).length,
    answeredP50: percentile(answers, 0.5), answeredP99: percentile(answers, 0.99),
  };
}
