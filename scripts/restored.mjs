// npm run restored: makes a log in which everything has happened, erasures and a sweep too, dumps the database by pg_dump, restores it
// beside by psql, and verifies what came out: by the engine, by the judges, and by files for the stand-alone verifier. Then a server
// with a story is backed up under load by `countersign backup`, restored elsewhere, recovered, and put to work;
// `age` and `tar` open its file.
// Ends with 0 when nobody suspects anything, every change of the restored log is found, and all of the backup is back; 1 otherwise, 2
// without PostgreSQL's programs.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { onOwnCluster } from './test/on-own-cluster.mjs';
import { dumpOf, query } from './test/own-cluster.mjs';

await onOwnCluster(check);

async function check({ binaries, folder, superuserUrl }) {
  const support = (name) => import(`../dist/proofs/test/support/${name}.js`);
  const [{ bigLog, SEED }, { falseAlarm, instance }, { loggedLog }, { ENTRIES }, { aged, archiveFolder, swept }] = await Promise.all(
    ['tampering/big-log', 'tampering/instance', 'tampering/logged-log', 'tampering/kinds/entries', 'retention/retention'].map(support));
  const { backupOfStory } = await support('backup/backup-round');

  const big = await bigLog(1, 1, () => Promise.resolve());
  await big.erase(big.bulk[1], 25);
  await big.sign();
  await aged(big.database);
  for (let n = 0; n < 3; n++) await big.grow(150);
  const gone = (await swept(big.database, await archiveFolder())).reduce((sum, { entries }) => sum + entries, 0);
  await big.erase(big.bulk[1], 10, '8');
  await big.sign();
  const dump = join(folder, 'dump.sql');
  writeFileSync(dump, dumpOf(binaries, big.database.superuserUrl));
  await query(superuserUrl, 'create database restored_test');
  const { status, stderr } = spawnSync(join(binaries, 'psql'),
    ['--quiet', '--no-psqlrc', '--set', 'ON_ERROR_STOP=1', '--file', dump, superuserUrl.replace(/[^/]*$/, 'restored_test')],
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
    const backup = await backupOfStory();
    process.stdout.write(`backup and restore: ${backup.told}\n${backup.wrong.map((what) => `wrong: ${what}\n`).join('')}`);
    return wrong === undefined && found === ENTRIES.length && backup.wrong.length === 0;
  } finally {
    await client.end();
    await big.end();
  }
}
