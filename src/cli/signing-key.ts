import { readFileSync } from 'node:fs';
import { StartRefused } from '../platform/config/start-refused.js';
import { readOrMakeSecret } from '../platform/embedded/secret-files.js';
import { dataDirOf } from './database-address.js';
import { runningEmbeddedDatabase } from './embedded-address.js';

/** AUDIT_SIGNING_KEY, else the key file that the first start made beside the embedded database. */
export function signingKeyOf(env: NodeJS.ProcessEnv): string | undefined {
  return configuredKey(env) ?? checked(readOrMakeSecret(dataDirOf(env), 'audit-signing-key', undefined));
}

/** The key that a database is to be verified by: that of the environment, or, of the embedded one, that beside it. */
export function ownKeyOf(databaseUrl: string, env: NodeJS.ProcessEnv): string | undefined {
  return databaseUrl === runningEmbeddedDatabase(dataDirOf(env)) ? signingKeyOf(env) : configuredKey(env);
}

function configuredKey({ AUDIT_SIGNING_KEY: direct, AUDIT_SIGNING_KEY_FILE: file }: NodeJS.ProcessEnv): string | undefined {
  return checked(direct || (file ? readFileSync(file, 'utf8').trim() : undefined));
}

function checked(seed: string | undefined): string | undefined {
  if (seed !== undefined && Buffer.from(seed, 'base64').length !== 32) {
    throw new StartRefused('AUDIT_SIGNING_KEY is no 32-byte Ed25519 seed in base64');
  }
  return seed;
}
