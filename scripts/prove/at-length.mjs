// One proof at length: any seed, shown; a database of the run's own where it needs one.
import { randomInt } from 'node:crypto';
import { endLeftServers, makeRunFolder, removeRunFolder } from '../test/run-folder.mjs';

/** @returns {Promise<boolean>} whether no counterexample was found */
export async function proveAtLength(proof, { seed = randomInt(2 ** 31 - 1), count = proof.longCount } = {}) {
  process.stdout.write(`${proof.title}\nseed ${seed}, ${count} cases\n`);
  const began = performance.now();
  const result = await withSurroundings(proof, () => proof.run({ count, seed, progress: progressBar(count) }));
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  if (process.stdout.isTTY) process.stdout.write('\n');
  for (const [what, times] of Object.entries(result.coverage)) process.stdout.write(`  ${what}: ${times}\n`);
  if (result.counterexample !== undefined) {
    process.stdout.write(`broken after ${result.checked} cases (${seconds} s):\n${result.counterexample}\n`);
    process.stdout.write(`again by: npm run prove -- ${proof.name} --seed ${seed} --count ${count}\n`);
    return false;
  }
  if (result.checked === 0) {
    process.stdout.write('no case was tried: nothing is proved\n');
    return false;
  }
  const missing = Object.entries(result.coverage).flatMap(([what, times]) => (times === 0 ? [what] : []));
  if (missing.length > 0) {
    process.stdout.write(`held in ${result.checked} cases (${seconds} s), but of these nothing is proved: ${missing.join(', ')}\n`);
    return false;
  }
  process.stdout.write(`held in ${result.checked} cases (${seconds} s)\n`);
  return true;
}

// A proof over the database gets what tests get: a server of its own for this run, with the template in it.
async function withSurroundings(proof, run) {
  if (proof.needs === 'nothing') return run();
  const { makeTemplate, openDatabaseServer } = await import('../test/database.mjs');
  const { firstRun } = await import('../test/first-run.mjs');
  const folder = makeRunFolder();
  let database;
  const end = async () => {
    endLeftServers(folder);
    await database?.stop();
    removeRunFolder(folder);
  };
  const endBySignal = (code) => () => void end().finally(() => process.exit(code));
  const [interrupted, terminated] = [endBySignal(130), endBySignal(143)];
  process.once('SIGINT', interrupted);
  process.once('SIGTERM', terminated);
  const given = { ...process.env };
  try {
    database = await openDatabaseServer(folder, () => undefined);
    await makeTemplate(database.url, (url) => firstRun(url, folder));
    process.env.TEST_DATABASE_URL = database.url;
    process.env.TEST_SUPERUSER_URL = database.superuserUrl;
    process.env.COUNTERSIGN_TEST_RUN = folder;
    return await run();
  } finally {
    await end();
    process.off('SIGINT', interrupted);
    process.off('SIGTERM', terminated);
    // The next proof opens a database of its own.
    for (const name of ['TEST_DATABASE_URL', 'TEST_SUPERUSER_URL', 'COUNTERSIGN_TEST_RUN']) {
      if (given[name] === undefined) delete process.env[name];
      else process.env[name] = given[name];
    }
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
