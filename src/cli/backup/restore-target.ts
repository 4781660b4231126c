import { closeSync, fsyncSync, openSync, rmSync, writeSync } from 'node:fs';
import { resolve } from 'node:path';
import { loadConfig } from '../../platform/config/config.js';
import { StartRefused } from '../../platform/config/start-refused.js';
import type { BackupSecrets } from './file/manifest.js';
import { comparedWith, environmentLines, serverSecretsOf } from './installation-secrets.js';
import { assertEmpty, fillDataDirectory, isBegun } from './restored-data-directory.js';
import { assertFree } from './whole-file.js';

/** Where a backup goes. */
export interface RestoreTarget {
  /** For the operator. */
  readonly into: string;
  /** @throws StartRefused where servers would start with other secrets than the backup's, or with none */
  assertFits(secrets: BackupSecrets): void;
  /** Does `work` on an empty database; one of the data directory, and the file of secrets, get their place when that has ended well. */
  fill(secrets: BackupSecrets, work: (url: string) => Promise<void>): Promise<void>;
}

/** @throws StartRefused when there is something already */
export function targetOf(env: NodeJS.ProcessEnv, secretsOut: string | undefined): RestoreTarget {
  const config = loadConfig(env);
  const { databaseUrl, dataDir } = config;
  // What a restore that was killed has left is taken away first, and looked at then.
  if (databaseUrl === undefined && !isBegun(dataDir)) assertEmpty(dataDir);
  if (secretsOut !== undefined) assertFree(secretsOut);
  return {
    into: databaseUrl === undefined ? dataDir : `the database ${new URL(databaseUrl).pathname.slice(1)}`,
    assertFits: (secrets) => {
      const { other, missing } = comparedWith(config, secrets);
      if (other.length > 0) {
        throw new StartRefused(`${other.join(', ')}: is set to something else than the backup has, and no server would start with it. `
          + 'Leave it out here, and give servers the one of the backup');
      }
      if (databaseUrl === undefined || missing.length === 0 || secretsOut !== undefined) return;
      throw new StartRefused(`${missing.join(', ')}: is not set here, and servers need what the backup has: `
        + 'give --secrets-out <file> for an environment file that it is written to');
    },
    fill: async (secrets, work) => {
      // Written before the rows are there for others: nothing would open them without it.
      if (secretsOut !== undefined) writeNew(secretsOut, environmentLines(secrets));
      try {
        if (databaseUrl !== undefined) await work(databaseUrl);
        else await fillDataDirectory({ dataDir, secrets: serverSecretsOf(secrets), binDir: config.postgresBin }, work);
      } catch (error) {
        if (secretsOut !== undefined) rmSync(secretsOut, { force: true });
        throw error;
      }
    },
  };
}

function writeNew(path: string, text: string): void {
  try {
    const descriptor = openSync(path, 'wx', 0o600);
    try {
      writeSync(descriptor, text);
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    throw new StartRefused(`--secrets-out: ${resolve(path)} cannot be written (${(error as NodeJS.ErrnoException).code})`);
  }
}
