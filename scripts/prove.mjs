// npm run prove                                      lists the proofs
// npm run prove -- <name> [--seed N] [--count N]     runs one at length; the seed makes it repeatable
import { randomInt } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { prepareOrExit } from './prepare.mjs';
import { endLeftServers, makeRunFolder, removeRunFolder } from './test/run-folder.mjs';

process.chdir(join(import.meta.dirname, '..'));
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { seed: { type: 'string' }, count: { type: 'string' } },
});

prepareOrExit({ proofs: true });
const proofs = await loadProofs();
const wanted = positionals[0];
if (wanted === undefined) {
  for (const { name, title, longCount } of proofs) process.stdout.write(`${name}  ${title} (${longCount} cases)\n`);
} else {
  const proof = proofs.find(({ name }) => name === wanted);
  if (proof === undefined) fail(`no proof named ${wanted}; there are ${proofs.map(({ name }) => name).join(', ')}`);
  process.exitCode = await prove(proof);
}

async function loadProofs() {
  const folder = new URL('../dist/proofs/test/proofs/', import.meta.url);
  const files = readdirSync(folder, { recursive: true }).filter((file) => file.endsWith('.proof.js')).sort();
  return Promise.all(files.map(async (file) => (await import(new URL(file, folder).href)).proof));
}

async function prove(proof) {
  const seed = whole('seed', values.seed, randomInt(2 ** 31 - 1));
  const count = whole('count', values.count, proof.longCount);
  process.stdout.write(`${proof.title}\nseed ${seed}, ${count} cases\n`);
  const began = performance.now();
  const result = await withSurroundings(proof, () => proof.run({ count, seed, progress: progressBar(count) }));
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  if (process.stdout.isTTY) process.stdout.write('\n');
  for (const [what, times] of Object.entries(result.coverage)) process.stdout.write(`  ${what}: ${times}\n`);
  if (result.counterexample !== undefined) {
    process.stdout.write(`broken after ${result.checked} cases (${seconds} s):\n${result.counterexample}\n`);
    process.stdout.write(`again by: npm run prove -- ${proof.name} --seed ${seed} --count ${count}\n`);
    return 1;
  }
  if (result.checked === 0) {
    process.stdout.write('no case was tried: nothing is proved\n');
    return 1;
  }
  process.stdout.write(`held in ${result.checked} cases (${seconds} s)\n`);
  return 0;
}

// A proof over the database gets what tests get: a server of its own for this run, with the template in it.
async function withSurroundings(proof, run) {
  if (proof.needs === 'nothing') return run();
  const { makeTemplate, openDatabaseServer } = await import('./test/database.mjs');
  const { firstRun } = await import('./test/first-run.mjs');
  const folder = makeRunFolder();
  let database;
  const end = async () => {
    endLeftServers(folder);
    await database?.stop();
    removeRunFolder(folder);
  };
  for (const [signal, code] of [['SIGINT', 130], ['SIGTERM', 143]]) {
    process.once(signal, () => void end().finally(() => process.exit(code)));
  }
  try {
    database = await openDatabaseServer(folder, () => undefined);
    await makeTemplate(database.url, (url) => firstRun(url, folder));
    process.env.TEST_DATABASE_URL = database.url;
    process.env.TEST_SUPERUSER_URL = database.superuserUrl;
    process.env.COUNTERSIGN_TEST_RUN = folder;
    return await run();
  } finally {
    await end();
  }
}

// A bar on a terminal, a line for each tenth in a log.
function progressBar(count) {
  let shown = -1;
  return (done) => {
    const tenth = Math.floor((done / count) * (process.stdout.isTTY ? 50 : 10));
    if (tenth === shown) return;
    shown = tenth;
    if (process.stdout.isTTY) process.stdout.write(`\r[${'#'.repeat(tenth).padEnd(50)}] ${done}/${count}`);
    else process.stdout.write(`${done}/${count}\n`);
  };
}

function whole(name, text, otherwise) {
  if (text === undefined) return otherwise;
  const number = Number(text);
  if (!Number.isSafeInteger(number) || number < 1) fail(`--${name} takes a whole number from 1`);
  return number;
}

function fail(message) {
  process.stderr.write(`prove: ${message}\n`);
  process.exit(2);
}
