import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../servers/server-process.js';
import { CHECKOUT } from '../servers/test-run.js';
import { openFolder, type Program, startProgram, write } from './program.js';

const FOLDER = join(CHECKOUT, 'deploy/prometheus');

export interface Alert {
  readonly state: 'pending' | 'firing';
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

export interface Prometheus extends Program {
  /** Values of a query, with their labels. @throws Error where Prometheus does not understand it */
  query(query: string): Promise<{ readonly metric: Readonly<Record<string, string>>; readonly value: number }[]>;
  /** The same over a time in Unix seconds, each other second. */
  range(query: string, from: number, to: number): Promise<{
    readonly metric: Readonly<Record<string, string>>; readonly points: readonly { readonly at: number; readonly value: number }[];
  }[]>;
  /** The state of each target. */
  targets(): Promise<string[]>;
  alerts(): Promise<Alert[]>;
}

/** What `promtool` says of the rules and the sample. @throws Error where it refuses them */
export function checkByPromtool(): string {
  const check = (...args: string[]) => execFileSync('promtool', ['check', ...args], { encoding: 'utf8', stdio: 'pipe' });
  return check('rules', join(FOLDER, 'alerts.yml')) + check('config', join(FOLDER, 'prometheus.yml'));
}

/** Debian's Prometheus by the sample and the alerts of the project, for one server; it looks each second, and alerts need not last. */
export async function startPrometheus(metricsPort: number): Promise<Prometheus> {
  const port = await freePort();
  const folder = openFolder('prometheus');
  write(folder, 'alerts.yml', readFileSync(join(FOLDER, 'alerts.yml'), 'utf8').replaceAll(/^( +for:) \w+$/gm, '$1 0s'));
  const settings = readFileSync(join(FOLDER, 'prometheus.yml'), 'utf8').replaceAll('15s', '1s')
    .replace('127.0.0.1:9464', `127.0.0.1:${metricsPort}`).replace(/^ +- 127\.0\.0\.1:9465\n/m, '');
  const file = write(folder, 'prometheus.yml', settings);
  const program = await startProgram('prometheus', [
    `--config.file=${file}`, `--storage.tsdb.path=${join(folder, 'data')}`, `--web.listen-address=127.0.0.1:${port}`,
  ], port);
  const ask = async <Data>(path: string): Promise<Data> => {
    const response = await fetch(`http://127.0.0.1:${port}/api/v1/${path}`);
    const answer = (await response.json()) as { status: string; data: Data; error?: string };
    if (answer.status !== 'success') throw new Error(`${decodeURIComponent(path)}: ${answer.error ?? response.status}`);
    return answer.data;
  };
  return {
    ...program,
    query: async (query) => {
      const { result } = await ask<{ result: { metric: Record<string, string>; value: [number, string] }[] }>(
        `query?query=${encodeURIComponent(query)}`);
      return result.map(({ metric, value: [, value] }) => ({ metric, value: Number(value) }));
    },
    range: async (query, from, to) => {
      const { result } = await ask<{ result: { metric: Record<string, string>; values: [number, string][] }[] }>(
        `query_range?query=${encodeURIComponent(query)}&start=${from}&end=${to}&step=2`);
      return result.map(({ metric, values }) => ({ metric, points: values.map(([at, value]) => ({ at, value: Number(value) })) }));
    },
    targets: async () => (await ask<{ activeTargets: { health: string }[] }>('targets')).activeTargets.map(({ health }) => health),
    alerts: async () => (await ask<{ alerts: Alert[] }>('alerts')).alerts,
  };
}
