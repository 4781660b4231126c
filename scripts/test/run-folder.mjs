// A folder for one run, and the certainty that nothing started in it outlives it.
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export function makeRunFolder() {
  return mkdtempSync(join(tmpdir(), 'countersign-test-'));
}

/** Ends the servers that tests left behind, by the process ids they wrote down; a finished one has removed its own. */
export function endLeftServers(folder) {
  let ended = 0;
  for (const file of namesIn(join(folder, 'servers'))) {
    const pid = Number(/^(\d+)\.pid$/.exec(file)?.[1] ?? 0);
    if (pid > 1 && kill(pid)) ended += 1;
  }
  return ended;
}

export function removeRunFolder(folder) {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}

function namesIn(folder) {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function kill(pid) {
  try {
    process.kill(pid, 'SIGKILL');
    return true;
  } catch {
    return false;
  }
}
