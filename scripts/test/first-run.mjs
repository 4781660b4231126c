// The first run of a new database, by the server itself: started, waited for, ended.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

const READY_WITHIN_MS = 240_000;

export async function firstRun(databaseUrl, folder) {
  const settings = JSON.parse(readFileSync('test/support/servers/environment.json', 'utf8'));
  const readyFile = join(folder, 'first-run.json');
  const { PATH, HOME, TMPDIR, LANG } = process.env;
  const port = String(await freePort());
  const server = spawn(process.execPath, ['dist/src/main.js'], {
    env: {
      PATH, HOME, TMPDIR, LANG, ...settings, DATABASE_URL: databaseUrl, PORT: port, COUNTERSIGN_READY_FILE: readyFile,
      // Each database has anchors of its own: its copies go ways of their own from here.
      AUDIT_ANCHORS: `file:${join(folder, 'anchors', 'template')}`,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [server.stdout, server.stderr]) stream.on('data', (chunk) => (output += chunk));
  let ended = false;
  const exit = new Promise((resolve) => {
    server.once('error', (error) => resolve(`could not be started: ${error.message}`));
    server.once('close', (code, signal) => resolve(`ended by ${signal ?? `exit code ${code}`}`));
  }).then((how) => ((ended = true), how));

  const deadline = Date.now() + READY_WITHIN_MS;
  while (!ended && !existsSync(readyFile) && Date.now() < deadline) await pause(25);
  const ready = !ended && existsSync(readyFile);
  server.kill(ready ? 'SIGTERM' : 'SIGKILL');
  const how = await exit;
  if (!ready) throw new Error(`the server did not get through its first run (${how})\n${output}`);
}

export function freePort() {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });
}
