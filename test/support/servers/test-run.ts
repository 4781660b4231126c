import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Tests and proofs are started in the checkout's folder, from source by Jest and from dist by the proofs. */
export const CHECKOUT = process.cwd();

export type Environment = Readonly<Record<string, string>>;

/** Fixed values, the same ones that the template database was first run with: a server with others refuses to start. */
export const TEST_ENVIRONMENT = JSON.parse(
  readFileSync(join(CHECKOUT, 'test/support/servers/environment.json'), 'utf8'),
) as Environment;

export const ROOT_KEY = wanted(TEST_ENVIRONMENT.ROOT_API_KEY, 'ROOT_API_KEY in test/support/servers/environment.json');
export const JWT_SECRET = wanted(TEST_ENVIRONMENT.JWT_SECRET, 'JWT_SECRET in test/support/servers/environment.json');

/** Where `npm test` keeps this run's files; started servers leave their process ids here, so that none outlives the run. */
export function runFolder(): string {
  return wanted(process.env.COUNTERSIGN_TEST_RUN, 'COUNTERSIGN_TEST_RUN: start tests by npm test');
}

/** The database server of this run, by a database whose name says that it is for tests. */
export function adminUrl(): string {
  const url = wanted(process.env.TEST_DATABASE_URL, 'TEST_DATABASE_URL: start tests by npm test');
  if (!new URL(url).pathname.includes('test')) throw new Error('TEST_DATABASE_URL names a database without "test" in its name');
  return url;
}

/** The same server as its superuser knows it: for what the product's own user may not do, which a proof must try. */
export function superuserUrl(): string {
  return wanted(process.env.TEST_SUPERUSER_URL, 'TEST_SUPERUSER_URL: start tests by npm test');
}

function wanted(value: string | undefined, what: string): string {
  if (value === undefined || value === '') throw new Error(`missing ${what}`);
  return value;
}
