// npm test [-- --unit] [-- <what Jest takes: paths, -t name, …>]
// Installs if needed, builds if stale, starts one PostgreSQL for the run, runs Jest, and ends whatever was started.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isInstalled, prepare, PrepareError } from './prepare.mjs';
import { refuseOtherNames } from './test/database-name.mjs';
import { endLeftServers, makeRunFolder, removeRunFolder } from './test/run-folder.mjs';

process.chdir(join(import.meta.dirname, '..'));
const argv = process.argv.slice(2);
const unit = argv.includes('--unit');
const jestArgs = argv.filter((argument) => argument !== '--unit');

// In one word each: an option that takes a list would swallow the paths after it.
const REPORTERS = ['--reporters=default', `--reporters=${join(import.meta.dirname, 'test/counts-reporter.mjs')}`];
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

try {
  process.exitCode = await main();
} catch (error) {
  process.stderr.write(`${error instanceof PrepareError ? error.message : (error.stack ?? error)}\n`);
  process.stdout.write('0 passed, 1 failed\n');
  process.exitCode = 1;
} finally {
  for (const cleanup of cleanups.reverse()) {
    try {
      await cleanup();
    } catch (error) {
      process.stderr.write(`while cleaning up: ${error.stack ?? error}\n`);
      process.exitCode = 1;
    }
  }
  if (interrupted !== undefined) process.exitCode = interrupted;
}

async function main() {
  if (!unit && process.env.TEST_DATABASE_URL) refuseOtherNames(process.env.TEST_DATABASE_URL);
  // Unit tests run from source, so they need no build, and run while there is none.
  if (!unit || !isInstalled({ forBuild: true })) prepare();
  const folder = makeRunFolder();
  cleanups.push(() => removeRunFolder(folder));
  const env = { ...process.env, NODE_OPTIONS: nodeOptions(), COUNTERSIGN_TEST_RUN: folder };
  env.COUNTERSIGN_TEST_COUNTS = join(folder, 'counts.json');
  if (!unit) {
    const { url, superuserUrl } = await openDatabase(folder);
    Object.assign(env, { TEST_DATABASE_URL: url, TEST_SUPERUSER_URL: superuserUrl });
  }
  if (interrupted !== undefined) return interrupted;

  const scope = unit ? [`--roots=${join(process.cwd(), 'src')}`] : [];
  const code = await runJest([...scope, ...REPORTERS, '--maxWorkers=3', ...jestArgs], env);
  const left = endLeftServers(folder);
  if (left > 0) process.stderr.write(`${left} servers were left running by their tests and have been ended\n`);
  return conclude(env.COUNTERSIGN_TEST_COUNTS, code);
}

async function openDatabase(folder) {
  const { makeTemplate, openDatabaseServer } = await import('./test/database.mjs');
  const { firstRun } = await import('./test/first-run.mjs');
  const database = await openDatabaseServer(folder, (line) => {
    if (process.env.COUNTERSIGN_TEST_VERBOSE) process.stderr.write(`${line}\n`);
  });
  cleanups.push(() => database.stop());
  cleanups.push(() => void endLeftServers(folder));
  await makeTemplate(database.url, (url) => firstRun(url, folder));
  return database;
}

function runJest(args, env) {
  return new Promise((resolve, reject) => {
    // Our own standard output carries nothing but the closing line.
    jest = spawn(process.execPath, ['node_modules/jest/bin/jest.js', ...args], { env, stdio: ['inherit', 2, 'inherit'] });
    jest.once('error', reject);
    jest.once('close', (code, signal) => resolve(signal ? 1 : code));
  });
}

// What failed stands once more at the end, where it is found. The counts are Jest's own; a file that could not even be loaded has no tests
// to count, so it counts as one failure.
function conclude(counts, code) {
  if (!existsSync(counts)) {
    process.stdout.write('0 passed, 1 failed\n');
    return code || 1;
  }
  const { passed, failed, unloadable, names } = JSON.parse(readFileSync(counts, 'utf8'));
  for (const name of names) process.stderr.write(`failed: ${name}\n`);
  process.stdout.write(`${passed} passed, ${failed + unloadable} failed\n`);
  return failed + unloadable > 0 ? 1 : code;
}

// Jest loads ES modules through vm.Module, which Node calls experimental: once for every worker unless told that we know.
function nodeOptions() {
  const given = process.env.NODE_OPTIONS ?? '';
  return `${given} --experimental-vm-modules --disable-warning=ExperimentalWarning`.trim();
}
