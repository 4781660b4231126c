import { createWriteStream, existsSync } from 'node:fs';
import { open, readdir, rename, rm } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { StartRefused } from '../../platform/config/start-refused.js';
import { isAlive } from '../../platform/embedded/data-lock.js';

/**
 * Writes a file that only its owner may read, under another name until it is whole and on the disk: of that name there is never half of
 * one. A file that is there already stays as it is.
 *
 * @throws StartRefused when there is one, or the disk cannot take it
 */
export async function writeWhole(path: string, bytes: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<void> {
  assertFree(path);
  // Another machine may write to the same folder, with the same numbers of processes.
  const machine = encodeURIComponent(hostname());
  const part = `${path}.part-${process.pid}-${machine}`;
  try {
    await removeAbandoned(dirname(path), machine);
    await pipeline(bytes, createWriteStream(part, { flags: 'wx', mode: 0o600, highWaterMark: 1024 * 1024 }), { signal });
    await synced(part, 'r+');
    assertFree(path);
    await rename(part, path);
    await synced(dirname(path), 'r');
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException;
    if (code !== 'EEXIST') await rm(part, { force: true }).catch(() => undefined);
    const isOfDisk = syscall !== undefined && ['open', 'scandir', 'write', 'fsync', 'close', 'rename', 'writev'].includes(syscall);
    if (isOfDisk) throw new StartRefused(`${path} cannot be written (${reasonOf(code)}): nothing of that name was made`);
    throw error;
  }
}

/** What a process that was killed had begun, of whatever name. */
async function removeAbandoned(folder: string, machine: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const [, pid, of] = /\.part-(\d+)-([^/]+)$/.exec(name) ?? [];
    if (pid !== undefined && of === machine && !isAlive(Number(pid))) await rm(join(folder, name), { force: true });
  }
}

/** @throws StartRefused when something has that name */
export function assertFree(path: string): void {
  if (existsSync(path)) throw new StartRefused(`${path} is there already, and is not replaced: give another name`);
}

function reasonOf(code: string | undefined): string {
  switch (code) {
    case 'ENOSPC':
    case 'EDQUOT':
      return 'the disk is full';
    case 'ENOENT':
      return 'there is no such folder';
    default:
      return code ?? 'unknown';
  }
}

async function synced(path: string, flags: string): Promise<void> {
  const handle = await open(path, flags);
  await handle.sync().finally(() => handle.close());
}
