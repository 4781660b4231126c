// One run of Jest: installs if needed, builds if stale, starts one PostgreSQL for the run, and ends whatever was started.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { prepare, PrepareError } from '../prepare.mjs';
import { refuseOtherNames } from './database-name.mjs';
import { endLeftServers, makeRunFolder, removeRunFolder } from './run-folder.mjs';

const reporters = (jestArgs) => [
  ...(jestArgs.includes('--verbose') ? ['default'] : [join(import.meta.dirname, 'progress-reporter.mjs'), 'summary']),
  join(import.meta.dirname, 'counts-reporter.mjs'),
].map((name) => `--reporters=${name}`);
/** More than there are cores, since much of a test is waiting. */
const WORKERS = Math.min(8, Math.ceil(availableParallelism() * 3));

/**
 * Runs the tests that `jestArgs` name, and says on the last line how many passed and failed.
 * @param {{ jestArgs: readonly string[], leftOut?: readonly string[], unit?: boolean, env?: Record<string, string>, workers?: number }} run
 *   `leftOut`: folders whose tests are not for this run; `unit`: without a build and a database
 * @returns {Promise<number>} the exit code of the process
 */
export async function runJest({ jestArgs, leftOut = [], unit = false, env: more = {}, workers = WORKERS }) {
  const cleanups = [];
  let jest;
  let interrupted;
  for (const [signal, code] of [['SIGINT', 130], ['SIGTERM', 143], ['SIGHUP', 129]]) {
    process.on(signal, () => {
      interrupted ??= code;
      // Jest ends its workers; the rest is ended below, in the order it was started, backwards.
      jest?.kill('SIGTERM');
    });
  }
  let exitCode;
  try {
    exitCode = await run();
  } catch (error) {
    process.stderr.write(`${error instanceof PrepareError ? error.message : (error.stack ?? error)}\n`);
    process.stdout.write('0 passed, 1 failed\n');
    exitCode = 1;
  } finally {
    for (const cleanup of cleanups.reverse()) {
      try {
        await cleanup();
      } catch (error) {
        process.stderr.write(`while cleaning up: ${error.stack ?? error}\n`);
        exitCode = 1;
      }
    }
  }
  return interrupted ?? exitCode;

  async function run() {
    if (!unit && process.env.TEST_DATABASE_URL) refuseOtherNames(process.env.TEST_DATABASE_URL);
    // Unit tests run from source, so they need no build, and run while there is none.
    prepare({ development: true, build: !unit });
    const folder = makeRunFolder();
    cleanups.push(() => removeRunFolder(folder));
    const env = { ...process.env, ...more, NODE_OPTIONS: nodeOptions(), COUNTERSIGN_TEST_RUN: folder };
    env.COUNTERSIGN_TEST_COUNTS = join(folder, 'counts.json');
    if (!unit) {
      const { url, superuserUrl } = await openDatabase(folder);
      Object.assign(env, { TEST_DATABASE_URL: url, TEST_SUPERUSER_URL: superuserUrl });
    }
    if (interrupted !== undefined) return interrupted;

    const scope = unit ? [`--roots=${join(process.cwd(), 'src')}`] : [];
    // In one word each, and before one that takes no list: else an option that does would swallow the paths after it.
    const ignored = leftOut.map((folder) => `--testPathIgnorePatterns=/${folder}/`);
    const code = await spawned([...scope, ...reporters(jestArgs), ...ignored, `--maxWorkers=${workers}`, ...jestArgs], env);
    const left = endLeftServers(folder);
    if (left > 0) process.stderr.write(`${left} servers were left running by their tests and have been ended\n`);
    return conclude(env.COUNTERSIGN_TEST_COUNTS, code);
  }

  async function openDatabase(folder) {
    const { makeTemplate, openDatabaseServer } = await import('./database.mjs');
    const { firstRun } = await import('./first-run.mjs');
    const database = await openDatabaseServer(folder, (line) => {
      if (process.env.COUNTERSIGN_TEST_VERBOSE) process.stderr.write(`${line}\n`);
    });
    cleanups.push(() => database.stop());
    cleanups.push(() => void endLeftServers(folder));
    await makeTemplate(database.url, (url) => firstRun(url, folder));
    return database;
  }

  function spawned(args, env) {
    return new Promise((resolve, reject) => {
      // Our own standard output carries nothing but the closing line.
      jest = spawn(process.execPath, ['node_modules/jest/bin/jest.js', ...args], { env, stdio: ['inherit', 2, 'inherit'] });
      jest.once('error', reject);
      jest.once('close', (code, signal) => resolve(signal ? 1 : code));
    });
  }
}

// What failed stands once more at the end, where it is found. The counts are Jest's own; a file that could not even be loaded has no tests
// to count, so it counts as one failure.
function conclude(counts, code) {
  if (!existsSync(counts)) {
    process.stdout.write('0 passed, 1 failed\n');
    return code || 1;
  }
  const { passed, failed, unloadable, slowest, names } = JSON.parse(readFileSync(counts, 'utf8'));
  if (slowest.length > 0) process.stderr.write(`\nThe slowest tests:\n${slowest.map((line) => `  ${line}\n`).join('')}`);
  for (const name of names) process.stderr.write(`failed: ${name}\n`);
  process.stdout.write(`${passed} passed, ${failed + unloadable} failed\n`);
  return failed + unloadable > 0 ? 1 : code;
}

// Jest loads ES modules through vm.Module, which Node calls experimental: once for every worker unless that warning is off.
function nodeOptions() {
  const given = process.env.NODE_OPTIONS ?? '';
  return `${given} --experimental-vm-modules --disable-warning=ExperimentalWarning`.trim();
}
