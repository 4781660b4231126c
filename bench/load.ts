import { spawnSync } from 'node:child_process';
import type { Options } from './options.js';
import { autocannon } from './load-autocannon.js';
import { wrk } from './load-wrk.js';

/** One stretch of load: POSTs of one body over keep-alive connections, each as the next of the callers in turn. */
export interface LoadOrder {
  readonly url: string;
  readonly tokens: readonly string[];
  readonly body: string;
  readonly connections: number;
  readonly seconds: number;
}

export interface LoadResult {
  readonly requests: number;
  readonly requestsPerSecond: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
  /** Answers other than 2xx, and connections that failed or hung. */
  readonly failed: number;
}

/** A load generator in a process of its own. */
export interface LoadGenerator {
  readonly name: string;
  run(order: LoadOrder): Promise<LoadResult>;
}

/** `wrk` takes a tenth of the processor time that a generator in JavaScript does, which matters where all share the cores. */
export function chooseLoadGenerator(wanted: Options['load'], workFolder: string): LoadGenerator {
  // It prints its version and exits with 1.
  const version = /wrk (\S+)/.exec(spawnSync('wrk', ['-v'], { encoding: 'utf8' }).stdout ?? '')?.[1];
  if (wanted !== 'autocannon' && version !== undefined) return wrk(`wrk ${version}`, workFolder);
  if (wanted === 'wrk') throw new Error('--load wrk: it is not installed');
  return autocannon(workFolder);
}
