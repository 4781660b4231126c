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
export async function checkPort(listen: Listen): Promise<void> {
  const probe = createServer();
  await new Promise<void>((done, failed) => {
    probe.once('error', (error) => failed(listenRefusal(error, listen)));
    probe.listen(listen.port, listen.host, () => probe.close(() => done()));
  });
}

/** The operator's message for an address that cannot be listened on. */
export function listenRefusal(error: unknown, { host, port }: Listen): Error {
  const at = `port ${port} of ${host}`;
  switch ((error as NodeJS.ErrnoException).code) {
    case 'EADDRINUSE':
      return new StartRefused(`PORT: ${at} is already in use. Stop what listens there, or set PORT to another one.`);
    case 'EACCES':
      return new StartRefused(`PORT: this user may not listen on ${at}. Set PORT to 1024 or higher.`);
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return new StartRefused(`HOST: ${host} is not an address of this machine.`);
    default:
      return error instanceof Error ? error : new Error(String(error));
  }
}
