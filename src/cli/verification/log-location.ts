import { databaseAddress, namedDatabase, runningDatabase, type DatabaseLocation } from '../database-address.js';
import { givenKey, type KeyOptions } from '../given-key.js';

/** Where a log is read from, and by which option or variable, or because it was found. */
export type LogLocation = FileLocation | ServerLocation | DatabaseLocation;

export interface FileLocation {
  readonly kind: 'file';
  readonly file: string;
  readonly by: string;
}

export interface ServerLocation {
  readonly kind: 'server';
  /** Without a slash at its end. */
  readonly url: string;
  readonly key?: string;
  readonly by: string;
}

/** What stands on the command line. */
export interface LocationOptions extends KeyOptions {
  readonly file?: string;
  readonly url?: string;
  readonly databaseUrl?: string;
}

/** Help below the options of the commands that take locations. */
export const LOCATION_ORDER = `
Where it reads: what is given here counts before any variable. Of variables DATABASE_URL counts before COUNTERSIGN_URL, and both
before the running embedded database of DATA_DIR. Which it was is said on standard error.`;

const NAMED_SERVER = 'COUNTERSIGN_URL';
const NO_LOCATION = 'no server and no database: give --url with --key-file, or --database-url; or set DATABASE_URL or COUNTERSIGN_URL, or '
  + 'DATA_DIR where a server runs an embedded database';
const KEY_ALONE = 'a key is for a server: give --url (or COUNTERSIGN_URL) with it, or leave it out';

/**
 * Options before variables. Of variables a database's goes first: of a database more is verified than of a server's export, and it is
 * what every other command means. An embedded one, which nobody has named, goes last.
 *
 * @throws Error when what is named is none, or nothing is
 */
export function locationOf({ file, url, databaseUrl, ...given }: LocationOptions, env: NodeJS.ProcessEnv): LogLocation {
  const hasKey = given.key !== undefined || given.keyFile !== undefined;
  const server = env[NAMED_SERVER];
  if (url !== undefined) return serverAt(url, '--url', givenKey(given, env));
  if (hasKey) {
    if (file !== undefined || databaseUrl !== undefined || !server) throw new Error(KEY_ALONE);
    return serverAt(server, NAMED_SERVER, givenKey(given, env));
  }
  if (file !== undefined) return { kind: 'file', file, by: '--file' };
  if (databaseUrl !== undefined) return databaseAddress(databaseUrl, '--database-url');
  const found = namedDatabase(env) ?? (server ? serverAt(server, NAMED_SERVER, givenKey(given, env)) : runningDatabase(env));
  if (found === undefined) throw new Error(NO_LOCATION);
  return found;
}

function serverAt(text: string, by: string, key: string | undefined): ServerLocation {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) throw new Error(`${by} is no address of a server: write https://countersign.example`);
  if (url.username !== '' || url.password !== '') throw new Error(`${by} holds a user or a password: leave them out, and give --key-file`);
  return { kind: 'server', url: `${url.origin}${url.pathname}`.replace(/\/+$/, ''), by, ...(key ? { key } : {}) };
}

/** For the operator; without passwords. */
export function describeLocation(location: LogLocation): string {
  if (location.kind === 'file') return `reads the file ${location.file} (${location.by})`;
  if (location.kind === 'server') return `reads the export of ${location.url} (${location.by})`;
  const { hostname, port, pathname, searchParams } = new URL(location.url);
  const host = hostname || searchParams.get('host') || '';
  return `reads the database ${pathname.slice(1)} at ${host}${port === '' ? '' : `:${port}`} (${location.by})`;
}
