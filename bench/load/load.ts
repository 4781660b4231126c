import { spawnSync } from 'node:child_process';
import type { Options } from '../options.js';
import { autocannon } from './load-autocannon.js';
import type { LoadGenerator } from './load-generator.js';
import { wrk } from './load-wrk.js';

/** `wrk` takes a tenth of the processor time that a generator in JavaScript does, which matters where all share the cores. */
export function chooseLoadGenerator(wanted: Options['load'], workFolder: string): LoadGenerator {
  // It prints its version and exits with 1.
  const version = /wrk (\S+)/.exec(spawnSync('wrk', ['-v'], { encoding: 'utf8' }).stdout ?? '')?.[1];
  if (wanted !== 'autocannon' && version !== undefined) return wrk(`wrk ${version}`, workFolder);
  if (wanted === 'wrk') throw new Error('--load wrk: it is not installed');
  return autocannon(workFolder);
}
