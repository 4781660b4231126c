// npm run installed [-- <what Jest takes: paths, -t name, …>]
// The tests with programs that stand before or behind the server in other people's installations, as Debian packages them.
// Ends with 0 when all passed, 1 when something failed, 2 where a program is missing. The last line counts.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { runJest } from './test/jest-run.mjs';

const PROGRAMS = ['pgbouncer', 'haproxy', 'nginx', 'prometheus'];
const FOLDERS = ['/usr/sbin', ...(process.env.PATH ?? '').split(':')];

process.chdir(join(import.meta.dirname, '..'));
const missing = PROGRAMS.filter((name) => !FOLDERS.some((folder) => existsSync(join(folder, name))));
if (missing.length > 0) {
  process.stderr.write(`installed: ${missing.join(', ')}: not here (Debian: apt-get install ${missing.join(' ')})\n`);
  process.exitCode = 2;
} else {
  const given = process.argv.slice(2);
  // What they ask of programs is at its own pace, and so is a rolling restart: one after the other.
  process.exitCode = await runJest({ jestArgs: given.length > 0 ? given : ['test/installed/'], workers: 1 });
}
