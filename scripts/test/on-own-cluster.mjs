// A check on a PostgreSQL of the machine's own, in which tests' and proofs' support can start servers.
import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { prepareOrExit } from '../prepare.mjs';
import { makeTemplate } from './database.mjs';
import { firstRun } from './first-run.mjs';
import { MISSING, programs, startCluster } from './own-cluster.mjs';
import { endLeftServers, makeRunFolder, removeRunFolder } from './run-folder.mjs';

/**
 * Ends the process with 0 where `check` answers true, 1 where it does not, 2 without PostgreSQL's programs. The check is given these
 * programs, the run's folder and the database's, and the answer of `startCluster`.
 */
export async function onOwnCluster(check) {
  process.chdir(join(import.meta.dirname, '../..'));
  const binaries = programs();
  if (binaries === undefined) {
    process.stderr.write(MISSING);
    process.exit(2);
  }
  prepareOrExit({ proofs: true });

  const folder = makeRunFolder();
  chmodSync(folder, 0o755);
  const dataDir = join(folder, 'postgres');
  let cluster;
  try {
    cluster = await startCluster(binaries, dataDir);
    const { url, superuserUrl } = cluster;
    Object.assign(process.env, { TEST_DATABASE_URL: url, TEST_SUPERUSER_URL: superuserUrl, COUNTERSIGN_TEST_RUN: folder });
    await makeTemplate(url, (template) => firstRun(template, folder));
    process.exitCode = (await check({ ...cluster, binaries, folder, dataDir })) ? 0 : 1;
  } finally {
    endLeftServers(folder);
    await cluster?.stop();
    removeRunFolder(folder);
  }
}
