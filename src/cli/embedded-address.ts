import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isPostmasterOf } from '../platform/embedded/postmaster.js';
import { locateCluster } from '../platform/embedded/cluster.js';
import { readOrMakeSecret } from '../platform/embedded/secret-files.js';

// Lines of postmaster.pid (PostgreSQL, src/include/utils/pidfile.h), counted from 0.
const PID_LINE = 0;
const PORT_LINE = 3;

/** Address of the embedded database of a data directory while a server runs it; undefined when none does. */
export function runningEmbeddedDatabase(dataDir: string): string | undefined {
  // To look must not make anything.
  if (!existsSync(dataDir)) return undefined;
  const { folder, exists } = locateCluster(dataDir);
  if (!exists) return undefined;
  const lines = pidFile(folder);
  const [pid, port] = [Number(lines[PID_LINE]), Number(lines[PORT_LINE])];
  if (!(pid > 0 && port > 0) || !isPostmasterOf(pid, folder)) return undefined;
  const password = readOrMakeSecret(dataDir, 'database-password', undefined);
  return password === undefined ? undefined : `postgres://countersign:${password}@127.0.0.1:${port}/countersign`;
}

function pidFile(folder: string): string[] {
  try {
    return readFileSync(join(folder, 'postmaster.pid'), 'utf8').split('\n');
  } catch {
    return [];
  }
}
