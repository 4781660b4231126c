// What the SDK costs its caller: executions a second beside plain fetch of the same body, and the memory of many that wait.
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { bodyOf } from '../figures.js';
import { median } from '../measure.js';
import { cell, table, whole } from '../report.js';
import type { Stage } from '../stage.js';
import type { Study } from '../study.js';
import type { SdkFound, SdkOrder, Side } from './sdk-worker.js';

type Round = Readonly<Record<Side, number>>;

const SIDES = ['fetch', 'sdk', 'keyed'] as const;
const AT_ONCE = 64;
const WAITS = 1_000;
const MEGABYTE = 1024 * 1024;

/** In turn, and who begins changes; the first round is thrown away. */
export const sdkStudy: Study = {
  key: 'sdk',
  onlyWhenNamed: true,
  run: async ({ stage, tokens, options, progress }) => {
    const { url } = stage.governed;
    const { seconds, warmUpSeconds } = options;
    const rounds: Round[] = [];
    progress.begin('The SDK beside plain fetch', (options.pairs + 1) * SIDES.length);
    for (let round = 0; round <= options.pairs; round++) {
      const rates: Partial<Record<Side, number>> = {};
      for (const side of round % 2 === 0 ? SIDES : SIDES.toReversed()) {
        const { rate = NaN } = await run({ side, url, tokens, atOnce: AT_ONCE, seconds, warmUpSeconds });
        rates[side] = rate;
        progress.step(`${side} ${whole(rate)}/s`);
      }
      if (round > 0) rounds.push(rates as Round);
    }
    progress.begin(`${whole(WAITS)} waits`, 1);
    const { growth = NaN } = await run({ side: 'waits', url, tokens, hitlRequestId: await asked(stage, tokens[0]!), waits: WAITS });
    return { text: textOf(rounds, growth), values: { figure: 'sdk', rounds, waits: WAITS, growth } };
  },
};

async function asked({ governed: { url } }: Stage, token: string): Promise<string> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const answer = await fetch(`${url}/api/v1/execute`, { method: 'POST', headers, body: bodyOf('email.send') });
  return ((await answer.json()) as { hitlRequestId: string }).hitlRequestId;
}

/** @throws Error where the process ends without an answer */
function run(order: SdkOrder): Promise<SdkFound> {
  return new Promise((done, failed) => {
    const worker = fork(fileURLToPath(new URL('sdk-worker.js', import.meta.url)), {
      execArgv: ['--expose-gc', '--import', new URL('../end-with-parent.js', import.meta.url).href],
    });
    worker.send(order);
    worker.once('exit', (code) => failed(new Error(`sdk: a process ended with ${String(code)}`)));
    worker.once('message', (found) => {
      worker.removeAllListeners('exit');
      worker.kill();
      done(found as SdkFound);
    });
  });
}

function textOf(rounds: readonly Round[], growth: number): string {
  const ratios = (other: Side) => rounds.map((round) => round.sdk / round[other]);
  const said = (found: readonly number[]) =>
    `${cell(median(found), 2)} × (${cell(Math.min(...found), 2)} to ${cell(Math.max(...found), 2)})`;
  const rows = rounds.map((round, n) => [String(n + 1), ...SIDES.map((side) => whole(round[side]))]);
  return [
    '',
    `  execute by the SDK, ${AT_ONCE} at once: ${said(ratios('fetch'))} plain fetch of the same body,`,
    `  ${said(ratios('keyed'))} fetch with an idempotency key`,
    `  ${whole(WAITS)} waits in one process: memory grew by ${whole(growth / MEGABYTE)} MB`,
    '',
    ...table(['round', 'fetch/s', 'SDK/s', 'fetch with a key/s'], rows, false),
    '',
  ].join('\n');
}
