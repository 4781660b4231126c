// npm run peers: whether tools of other people read openapi.json as it is meant. A linter has nothing to say, and two generators make
// typed clients of it with which the calls in test/peers compile. And whether the samples for Kubernetes and Compose are what these take,
// and fit the server. Their packages stand there, with a lock file of their own: nothing else needs them.
import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { misfits, writeTyped } from './peers/samples.mjs';
import { prepareOrExit, preparePeersOrExit, root } from './prepare.mjs';

const PEERS = join(root, 'test', 'peers');
const DOCUMENT = join(root, 'openapi.json');
const CLIENTS = join(PEERS, 'dist');
// They tell nobody that they were run, and ask nobody whether there is a newer one.
const ENV = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true', CI: 'true' };

// The client by @hey-api/openapi-ts has its functions in groups, as the ids of the operations have them: `api.executions.execute(…)`
// (test/peers/openapi-ts.config.json).
const steps = {
  'the linter has nothing to say': lint,
  'a client by @hey-api/openapi-ts': () => run('@hey-api/openapi-ts/bin/run.js', ['--no-log-file']),
  'types by openapi-typescript': () => run('openapi-typescript/bin/cli.js', [DOCUMENT, '--output', join(CLIENTS, 'openapi-typescript.ts')]),
  'the calls of both compile': () => run('typescript/bin/tsc', ['--project', 'tsconfig.json']),
  'the manifests for Kubernetes are of its types': ofTypes,
  'the samples for containers fit the server': fit,
};

prepareOrExit();
preparePeersOrExit();
rmSync(CLIENTS, { recursive: true, force: true });
mkdirSync(CLIENTS);
for (const [name, step] of Object.entries(steps)) {
  const began = performance.now();
  const isFine = await step();
  console.log(`${isFine ? 'ok' : 'FAILED'}: ${name} (${((performance.now() - began) / 1000).toFixed(1)} s)`);
  if (!isFine) process.exit(1);
}

/** What a tool says is shown. */
function run(tool, args) {
  return spawnSync(process.execPath, [join(PEERS, 'node_modules', tool), ...args], { cwd: PEERS, env: ENV, stdio: 'inherit' }).status === 0;
}

function ofTypes() {
  const file = join(CLIENTS, 'manifests.ts');
  writeTyped(file);
  return run('typescript/bin/tsc', ['--noEmit', '--strict', '--skipLibCheck', '--module', 'esnext', '--moduleResolution', 'bundler', file]);
}

async function fit() {
  const wrong = await misfits();
  for (const sentence of wrong) console.error(sentence);
  return wrong.length === 0;
}

/** Its exit code says nothing of warnings. */
function lint() {
  const tool = join(PEERS, 'node_modules', '@redocly/cli/bin/cli.js');
  const linted = spawnSync(process.execPath, [tool, 'lint', '--format', 'json', '--max-problems', '1000'],
    { cwd: root, env: ENV, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024, stdio: ['ignore', 'pipe', 'pipe'] });
  if (!linted.stdout.startsWith('{')) {
    console.error(`${linted.stdout}${linted.stderr}`);
    return false;
  }
  const { totals, problems } = JSON.parse(linted.stdout);
  for (const { severity, ruleId, message, location: [{ pointer }] } of problems.filter(({ ignored }) => !ignored)) {
    console.error(`${severity} ${ruleId} ${pointer}: ${message}`);
  }
  return totals.errors + totals.warnings === 0;
}
