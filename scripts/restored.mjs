// npm run restored: makes a log in which everything has happened, erasures and a sweep too, dumps the database by pg_dump, restores it
// beside by psql, and verifies what came out: by the engine, by the judges, and by files for the stand-alone verifier.
// Ends with 0 when nobody suspects anything and a change of the restored log is found, 1 otherwise, 2 without PostgreSQL's programs.
import { spawnSync } from 'node:child_process';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { prepareOrExit } from './prepare.mjs';
import { MISSING, programs, query, startCluster } from './test/own-cluster.mjs';
import { endLeftServers, makeRunFolder, removeRunFolder } from './test/run-folder.mjs';

process.chdir(join(import.meta.dirname, '..'));
const binaries = programs();
if (binaries === undefined) {
  process.stderr.write(MISSING);
  process.exit(2);
}
prepareOrExit();
const tsc = ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.proofs.json', '--pretty', 'false'];
if (spawnSync(process.execPath, tsc, { stdio: ['ignore', 2, 2] }).status !== 0) process.exit(1);

const folder = makeRunFolder();
chmodSync(folder, 0o755);
let cluster;
try {
  cluster = await startCluster(binaries, join(folder, 'postgres'));
  process.exitCode = (await story(cluster)) ? 0 : 1;
} finally {
  endLeftServers(folder);
  await cluster?.stop();
  removeRunFolder(folder);
}

async function story({ url, superuserUrl }) {
  const { makeTemplate } = await import('./test/database.mjs');
  const { firstRun } = await import('./test/first-run.mjs');
  Object.assign(process.env, { TEST_DATABASE_URL: url, TEST_SUPERUSER_URL: superuserUrl, COUNTERSIGN_TEST_RUN: folder });
  await makeTemplate(url, (template) => firstRun(template, folder));
  const support = (name) => import(`../dist/proofs/test/support/${name}.js`);
  const [{ bigLog, SEED }, { falseAlarm, instance }, { loggedLog }, { ENTRIES }, { aged, archiveFolder, swept }] = await Promise.all(
    ['tampering/big-log', 'tampering/instance', 'tampering/logged-log', 'tampering/entries', 'retention'].map(support));

  const big = await bigLog(1, 1, () => Promise.resolve());
  await big.erase(big.bulk[1], 25);
  await big.sign();
  await aged(big.database);
  for (let n = 0; n < 3; n++) await big.grow(150);
  const gone = (await swept(big.database, await archiveFolder())).reduce((sum, { entries }) => sum + entries, 0);
  await big.erase(big.bulk[1], 10, '8');
  await big.sign();
  const restored = restoredFrom(big.database.superuserUrl);
  await query(superuserUrl, 'create database restored_test');
  const { status, stderr } = spawnSync(join(binaries, 'psql'),
    ['--quiet', '--no-psqlrc', '--set', 'ON_ERROR_STOP=1', '--file', restored, superuserUrl.replace(/[^/]*$/, 'restored_test')],
    { encoding: 'utf8' });
  if (status !== 0) throw new Error(`psql: ${stderr}`);

  const client = new pg.Client({ connectionString: superuserUrl.replace(/[^/]*$/, 'restored_test') });
  await client.connect();
  try {
    const log = await loggedLog(client, { seed: SEED, storied: big.story.organizationId });
    const entries = log.organizations.reduce((sum, id) => sum + log.entriesOf(id).length, 0);
    process.stdout.write(`restored: ${entries} entries in ${log.organizations.length} organizations; ${gone} were swept before\n`);
    const wrong = await falseAlarm(client, log);
    process.stdout.write(wrong === undefined ? 'nobody suspects it\n' : `a false alarm: ${wrong}\n`);
    let found = 0;
    for (const [index, tampering] of ENTRIES.entries()) {
      const outcome = await instance(client, log, { seed: 1, index, tampering, scale: 1, standAlone: true });
      if (outcome?.missed !== undefined) process.stdout.write(`missed: ${tampering.name}: ${outcome.missed}\n`);
      else if (outcome) found++;
    }
    process.stdout.write(`${found} of ${ENTRIES.length} changes of it were found\n`);
    return wrong === undefined && found === ENTRIES.length;
  } finally {
    await client.end();
    await big.end();
  }
}

function restoredFrom(url) {
  const { status, stdout, stderr } = spawnSync(join(binaries, 'pg_dump'), [url], { encoding: 'utf8', maxBuffer: 1 << 30 });
  if (status !== 0) throw new Error(`pg_dump: ${stderr}`);
  const file = join(folder, 'dump.sql');
  writeFileSync(file, stdout);
  return file;
}
