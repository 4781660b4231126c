// A folder for one run, and the certainty that nothing started in it outlives it.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const NAME = 'countersign-test-';
/** Linux's file system in memory. */
const MEMORY = '/dev/shm';
const MEMORY_BYTES = 4 * 2 ** 30;

/** In memory where there is room: each test's database is three hundred files, which some disks take half a second to make. */
export function makeRunFolder() {
  return memoryFolder() ?? mkdtempSync(join(tmpdir(), NAME));
}

function memoryFolder() {
  let folder;
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    if (bavail * bsize < MEMORY_BYTES) return undefined;
    folder = mkdtempSync(join(MEMORY, NAME));
    // Containers may forbid programs there; for root, PostgreSQL's are copied into the run's folder.
    const program = join(folder, 'program');
    writeFileSync(program, '#!/bin/sh\n', { mode: 0o755 });
    if (spawnSync(program).status === 0) return folder;
  } catch {
    // There is none, or it is not ours to write to.
  }
  if (folder !== undefined) removeRunFolder(folder);
  return undefined;
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
