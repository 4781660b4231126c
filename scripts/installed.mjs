// npm run installed [-- --at-once | --alone | <what Jest takes: paths, -t name, …>]
// The tests with programs that stand before or behind the server in other people's installations, as Debian packages them.
// Ends with 0 when all passed, 1 when something failed, 2 where a program is missing. The last line of each part counts.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { runJest } from './test/jest-run.mjs';

const PROGRAMS = ['pgbouncer', 'haproxy', 'nginx', 'prometheus'];
const FOLDERS = ['/usr/sbin', ...(process.env.PATH ?? '').split(':')];

// A call that waits in the queue of a listener that closes is answered 502 by nginx, and a busy machine has such: that test goes alone. The
// others wait for programs most of the time.
const ALONE = ['rolling-restart'];
const PARTS = {
  '--at-once': [`test/installed/(?!${ALONE.join('|')})`],
  '--alone': ALONE.map((name) => `test/installed/${name}`),
};
const WORKERS = { '--at-once': 3, '--alone': 1 };

process.chdir(join(import.meta.dirname, '..'));
const missing = PROGRAMS.filter((name) => !FOLDERS.some((folder) => existsSync(join(folder, name))));
if (missing.length > 0) {
  process.stderr.write(`installed: ${missing.join(', ')}: not here (Debian: apt-get install ${missing.join(' ')})\n`);
  process.exitCode = 2;
} else {
  const given = process.argv.slice(2);
  if (given.length > 0 && PARTS[given[0]] === undefined) process.exitCode = await runJest({ jestArgs: given, workers: 1 });
  else {
    for (const part of given.length > 0 ? given : Object.keys(PARTS)) {
      process.exitCode = Math.max(process.exitCode ?? 0, await runJest({ jestArgs: PARTS[part], workers: WORKERS[part] }));
    }
  }
}
