// What a call costs where Prometheus scrapes the server, and where its calls are traced, to one that nobody watches.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { bodyOf, FIGURES } from '../../figures.js';
import type { Goal } from '../../goals.js';
import { loadPhase, median, type Phase } from '../../measure.js';
import { freePort } from '../../processes.js';
import { cell, table, whole } from '../../report.js';
import type { Study, StudyContext } from '../../study.js';

const RECEIPT = FIGURES.find(({ key }) => key === 'receipt')!;
const SCRAPE_EVERY_MS = 5_000;
const SIDES = ['off', 'metrics', 'traces'] as const;
type Side = (typeof SIDES)[number];
type Round = Readonly<Record<Side, Phase>>;

interface Watched {
  readonly url: string;
  readonly pid: number;
  /** Of `/metrics`. */
  readonly metricsUrl?: string;
}

/** The three are servers beside the one that leads, whose work of the trees would else fall on one of them; they are called in turn. */
export const metricsStudy: Study = {
  key: 'metrics',
  onlyWhenNamed: true,
  run: async (context) => {
    const { stage, options: { pairs }, progress } = context;
    progress.begin('starting servers', 1);
    const collector = await startCollector();
    try {
      const metricsPort = await freePort();
      const servers: Readonly<Record<Side, Watched>> = {
        off: await stage.anotherServer('off'),
        metrics: {
          ...(await stage.anotherServer('metrics', { METRICS_PORT: String(metricsPort) })),
          metricsUrl: `http://127.0.0.1:${metricsPort}/metrics`,
        },
        traces: await stage.anotherServer('traces', { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url }),
      };
      progress.begin('Receipt-only executions of servers that are watched', (pairs + 1) * SIDES.length);
      const rounds: Round[] = [];
      for (let round = 0; round <= pairs; round++) {
        const phases: Partial<Record<Side, Phase>> = {};
        for (const side of round % 2 === 0 ? SIDES : SIDES.toReversed()) {
          phases[side] = await phaseOf(context, side, servers[side]);
          progress.step(`${side}: ${whole(phases[side].requestsPerSecond)} a second`);
        }
        if (round > 0) rounds.push(phases as Round);
      }
      const goal: Goal = { what: 'receipt with metrics, calls/s to without', value: median(ratios(rounds, 'metrics')), wanted: 0.98 };
      const values = { figure: 'metrics', rounds, traceBytes: collector.bytes() };
      return { text: textOf(rounds), values, goals: [goal] };
    } finally {
      collector.close();
    }
  },
};

async function phaseOf({ stage, tokens, load, options }: StudyContext, side: Side, server: Watched): Promise<Phase> {
  const order = { url: `${server.url}/api/v1/execute`, tokens, body: bodyOf(RECEIPT.capability), connections: options.connections };
  const { metricsUrl } = server;
  let failed: Error | undefined;
  const scrape = () => {
    if (metricsUrl !== undefined) void scraped(metricsUrl).catch((error: Error) => (failed ??= error));
  };
  scrape();
  const scraping = setInterval(scrape, SCRAPE_EVERY_MS);
  try {
    const { phase } = await loadPhase(stage, server.pid, `metrics, ${side}`, order, load, options);
    if (failed !== undefined) throw failed;
    return phase;
  } finally {
    clearInterval(scraping);
  }
}

async function scraped(url: string): Promise<void> {
  const response = await fetch(url);
  const text = await response.text();
  if (!text.includes('countersign_gate_calls_total')) throw new Error(`metrics: ${url} answered ${response.status}`);
}

/** Takes traces, and counts their bytes. */
async function startCollector(): Promise<{ url: string; bytes(): number; close(): void }> {
  let bytes = 0;
  const server: Server = createServer((request, response) => {
    request.on('data', (chunk: Buffer) => (bytes += chunk.length)).on('end', () => response.end('{}'));
  });
  await new Promise<void>((done) => void server.listen(0, '127.0.0.1', done));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    bytes: () => bytes,
    close: () => void server.close().closeAllConnections(),
  };
}

function ratios(rounds: readonly Round[], side: Side): number[] {
  return rounds.map((round) => round[side].requestsPerSecond / round.off.requestsPerSecond);
}

function textOf(rounds: readonly Round[]): string {
  const rows = SIDES.map((side) => {
    const of = (read: (phase: Phase) => number) => median(rounds.map((round) => read(round[side])));
    const all = ratios(rounds, side);
    const spread = side === 'off' ? '' : `${cell(Math.min(...all), 2)} to ${cell(Math.max(...all), 2)}`;
    return [
      side, whole(of((one) => one.requestsPerSecond)), cell(median(all), 2), spread, cell(of((one) => one.p50)), cell(of((one) => one.p99)),
      whole(of((one) => one.serverCpu)), whole(of((one) => one.databaseCpu)),
    ];
  });
  return [
    '',
    `  A server that is watched (medians of ${rounds.length}; scraped every ${SCRAPE_EVERY_MS / 1_000} s, and each call traced)`,
    '',
    ...table(['', 'calls/s', 'to off', '', 'p50 ms', 'p99 ms', 'server µs', 'PostgreSQL µs'], rows, false),
    '',
  ].join('\n');
}
