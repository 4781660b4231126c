import { createServer } from 'node:net';
import type { Config } from '../platform/config/config.js';
import { StartRefused } from '../platform/config/start-refused.js';

type Listen = Pick<Config, 'host' | 'port'>;

/** Where a person on this machine reaches the server. */
export function localUrl({ host, port }: Listen): string {
  const everywhere = host === '0.0.0.0' || host === '::';
  return `http://${everywhere ? 'localhost' : host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** Asked before anything is started or made: a first start that cannot listen would make a root key and then end. */
export async function checkPort(listen: Listen, variable = 'PORT'): Promise<void> {
  const probe = createServer();
  await new Promise<void>((done, failed) => {
    probe.once('error', (error) => failed(listenRefusal(error, listen, variable)));
    probe.listen(listen.port, listen.host, () => probe.close(() => done()));
  });
}

/** The operator's message for an address that cannot be listened on. @param variable that the port is from */
export function listenRefusal(error: unknown, { host, port }: Listen, variable = 'PORT'): Error {
  const at = `port ${port} of ${host}`;
  switch ((error as NodeJS.ErrnoException).code) {
    case 'EADDRINUSE':
      return new StartRefused(`${variable}: ${at} is already in use. Stop what listens there, or set ${variable} to another one.`);
    case 'EACCES':
      return new StartRefused(`${variable}: this user may not listen on ${at}. Set ${variable} to 1024 or higher.`);
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return new StartRefused(`HOST: ${host} is not an address of this machine.`);
    default:
      return error instanceof Error ? error : new Error(String(error));
  }
}
