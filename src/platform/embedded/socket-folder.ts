import { readdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import type { Cluster } from './cluster.js';

/** What an address of a Unix socket holds, in bytes: 108 on Linux, 104 on macOS, the closing zero among them. */
const LONGEST_PATH = 103;
/** As PostgreSQL names its socket, at the highest port. */
const SOCKET = '.s.PGSQL.65535';
const PROBE = '.s.probe';
/** What servers and probes leave behind that were killed: each start has another port, so nobody else would ever remove them. */
const LEFTOVER = /^\.s\.(probe|PGSQL\.\d+(\.lock)?)$/;

/**
 * Makes ready, while no server runs on the files, the folder for the database's Unix socket, which costs either side about half of
 * what TCP does; undefined where there can be none. It is the folder of the files themselves, which only their owner may enter.
 */
export async function socketFolder({ folder }: Cluster): Promise<string | undefined> {
  for (const name of readdirSync(folder)) if (LEFTOVER.test(name)) rmSync(join(folder, name), { force: true });
  if (process.platform === 'win32' || Buffer.byteLength(join(folder, SOCKET)) > LONGEST_PATH) return undefined;
  // Not every file system has sockets (folders shared with a virtual machine often do not), and PostgreSQL would not start there.
  return (await canListen(join(folder, PROBE))) ? folder : undefined;
}

function canListen(path: string): Promise<boolean> {
  const probe = createServer();
  return new Promise((done) => {
    probe.once('error', () => done(false));
    probe.listen(path, () => probe.close(() => done(true)));
  });
}
