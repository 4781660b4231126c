import { freePort } from '../servers/server-process.js';
import { openFolder, type Program, startProgram, write } from './program.js';

/** Debian's PgBouncer before the database server of an address, with its defaults but for what a test has to choose. */
export async function startPgbouncer(
  databaseUrl: string, mode: 'session' | 'transaction' | 'statement',
): Promise<Program & { url: string }> {
  const { hostname, port: behind, username, password } = new URL(databaseUrl);
  const port = await freePort();
  const folder = openFolder('pgbouncer');
  const users = write(folder, 'users.txt', `"${username}" "${decodeURIComponent(password)}"\n`);
  const settings = write(folder, 'pgbouncer.ini', `
[databases]
* = host=${hostname} port=${behind}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = plain
auth_file = ${users}
pool_mode = ${mode}
`);
  // It refuses to run as root.
  const program = await startProgram('pgbouncer', [...(process.getuid?.() === 0 ? ['-u', 'nobody'] : []), settings], port);
  const url = new URL(databaseUrl);
  url.host = `127.0.0.1:${port}`;
  url.search = '';
  return { ...program, url: url.href };
}
