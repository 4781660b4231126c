import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CHECKOUT } from '../servers/test-run.js';
import { freePort } from '../servers/server-process.js';
import { openFolder, type Program, startProgram, write } from './program.js';

/** The sample of the project, for these two servers and a free port. */
function sample(name: string, port: number, servers: readonly string[]): string {
  const text = readFileSync(join(CHECKOUT, 'deploy', name), 'utf8');
  const [one, two] = servers.map((url) => new URL(url).host);
  const filled = text.replaceAll('127.0.0.1:3001', one!).replaceAll('127.0.0.1:3002', two!)
    .replace('bind :8080', `bind 127.0.0.1:${port}`).replace('listen 8080', `listen 127.0.0.1:${port}`);
  if (filled.includes('8080') || filled.includes('300')) throw new Error(`${name} has other ports than its test knows`);
  return filled;
}

/** @param again `never`: other than in the sample, a call that cannot reach its server is not given to the other one */
export async function startHaproxy(servers: readonly string[], again?: 'never'): Promise<Program> {
  const port = await freePort();
  const text = sample('haproxy.cfg', port, servers);
  const once = text.replace('retries 2', 'retries 0').replace('option redispatch 1', '');
  if (once.length >= text.length) throw new Error('haproxy.cfg does not say how calls are sent again');
  const file = write(openFolder('haproxy'), 'haproxy.cfg', again === 'never' ? once : text);
  return startProgram('haproxy', ['-db', '-f', file], port);
}

export async function startNginx(servers: readonly string[]): Promise<Program> {
  const port = await freePort();
  const folder = openFolder('nginx');
  const included = write(folder, 'countersign.conf', sample('nginx.conf', port, servers));
  // What Debian's nginx.conf has around conf.d, with its files in a folder of the test's.
  const file = write(folder, 'nginx.conf', `
daemon off;
worker_processes 2;
pid ${folder}/nginx.pid;
error_log stderr;
events { worker_connections 768; }
http {
  access_log off;
  client_body_temp_path ${folder}/body;
  proxy_temp_path ${folder}/proxy;
  fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi;
  scgi_temp_path ${folder}/scgi;
  include ${included};
}
`);
  return startProgram('nginx', ['-p', folder, '-c', file], port);
}
