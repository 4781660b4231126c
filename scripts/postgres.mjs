// npm run postgres [-- 15 [<file name> …]]
// A chosen part of the tests (scripts/postgres/suite.mjs) against a PostgreSQL of the machine's own, configured as its package leaves it:
// of the version that is named, or each that is found; the one of POSTGRES_BIN, where it is set, and no other.
// Ends with 0 when all passed, 1 when something failed, 2 without such a PostgreSQL. The last line counts.
import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from './postgres/suite.mjs';
import { prepareOrExit } from './prepare.mjs';
import { runJest } from './test/jest-run.mjs';
import { installations, startCluster } from './test/own-cluster.mjs';
import { makeRunFolder, removeRunFolder } from './test/run-folder.mjs';

// All that is given beside the package's configuration is where the server is found, and a locale that every Debian has.
const AS_PACKAGED = { locale: 'C.UTF-8', settings: {} };
/** The package allows 100 connections, and each test may have two servers. */
const WORKERS = 3;

process.chdir(join(import.meta.dirname, '..'));
const [wanted, ...only] = process.argv.slice(2);
if (wanted !== undefined && !/^\d+$/.test(wanted)) refuse(`"${wanted}" is no version of PostgreSQL`);
const found = installations().filter(({ version }) => wanted === undefined || version === Number(wanted));
if (found.length === 0) {
  refuse(`no PostgreSQL ${wanted ?? '15 or newer'} is installed here (Debian: apt-get install postgresql${wanted ? `-${wanted}` : ''})`
    + '; POSTGRES_BIN names the folder of one that is elsewhere');
}
prepareOrExit({ development: true });
for (const one of found) process.exitCode = Math.max(process.exitCode ?? 0, await tried(one));

async function tried({ bin, version }) {
  const { tests, proofs } = suite(only);
  const folder = makeRunFolder();
  chmodSync(folder, 0o755);
  let cluster;
  try {
    cluster = await startCluster(bin, join(folder, 'postgres'), AS_PACKAGED);
    process.stderr.write(`PostgreSQL ${version} of ${bin}, ${tests.length} files\n`);
    Object.assign(process.env, { TEST_DATABASE_URL: cluster.url, TEST_SUPERUSER_URL: cluster.superuserUrl });
    return await runJest({ jestArgs: ['--runTestsByPath', ...tests], env: { COUNTERSIGN_PROOFS: proofs.join() }, workers: WORKERS });
  } finally {
    await cluster?.stop();
    removeRunFolder(folder);
  }
}

function refuse(why) {
  process.stderr.write(`postgres: ${why}\n`);
  process.exit(2);
}
