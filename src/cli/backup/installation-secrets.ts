import { parseEnv } from 'node:util';
import { assertSameSecrets, fingerprintsOf } from '../../modules/organizations/installation/secret-fingerprints.js';
import { givenSecrets, loadConfig, type Config, type ServerSecrets } from '../../platform/config/config.js';
import { StartRefused } from '../../platform/config/start-refused.js';
import { embeddedSecrets } from '../../platform/embedded/secret-files.js';
import type { BackupSecrets } from './file/manifest.js';

/**
 * The three secrets without which the database opens for no server: those of the environment, else those beside the embedded database.
 *
 * @param meant the environment with the database that is meant
 * @throws StartRefused where one is missing, or is another one than the database's
 */
export function secretsOf(meant: NodeJS.ProcessEnv, instance: string, fingerprints: Readonly<Record<string, string>>): BackupSecrets {
  const config = loadConfig(meant);
  const secrets = config.embedded ? embeddedSecrets(config, true) : givenSecrets(config);
  assertSameSecrets(fingerprints, fingerprintsOf(secrets, instance));
  const { jwtSecretAccepted, encryptionKeyAccepted } = secrets;
  return {
    JWT_SECRET: secrets.jwtSecret, ENCRYPTION_KEY: secrets.encryptionKey, AUDIT_SIGNING_KEY: secrets.auditSigningKey,
    ...(jwtSecretAccepted === undefined ? {} : { JWT_SECRET_ACCEPTED: jwtSecretAccepted }),
    ...(encryptionKeyAccepted === undefined ? {} : { ENCRYPTION_KEY_ACCEPTED: encryptionKeyAccepted }),
  };
}

/** The secrets of a backup as a server has them. */
export function serverSecretsOf(secrets: BackupSecrets): ServerSecrets {
  return {
    jwtSecret: secrets.JWT_SECRET, encryptionKey: secrets.ENCRYPTION_KEY, auditSigningKey: secrets.AUDIT_SIGNING_KEY,
    jwtSecretAccepted: secrets.JWT_SECRET_ACCEPTED, encryptionKeyAccepted: secrets.ENCRYPTION_KEY_ACCEPTED,
  };
}

const NAMES = {
  JWT_SECRET: 'jwtSecret', ENCRYPTION_KEY: 'encryptionKey', AUDIT_SIGNING_KEY: 'auditSigningKey', JWT_SECRET_ACCEPTED: 'jwtSecretAccepted',
  ENCRYPTION_KEY_ACCEPTED: 'encryptionKeyAccepted',
} as const;

/** The variables that are set to something else than the backup's secret, and those that are not set. */
export function comparedWith(config: Config, secrets: BackupSecrets): { readonly other: string[]; readonly missing: string[] } {
  const names = Object.keys(NAMES) as (keyof BackupSecrets)[];
  return {
    other: names.filter((name) => config[NAMES[name]] !== undefined && config[NAMES[name]] !== secrets[name]),
    missing: names.filter((name) => config[NAMES[name]] === undefined && secrets[name] !== undefined),
  };
}

/** Lines of an environment file, each of which reads as what it was. */
export function environmentLines(secrets: BackupSecrets): string {
  return Object.entries(secrets).map(([name, value]) => {
    const line = ['', `'`, '"', '`'].map((quote) => `${name}=${quote}${value}${quote}\n`).find((one) => parseEnv(one)[name] === value);
    if (line === undefined) throw new StartRefused(`${name} cannot stand in an environment file: it has a line end or every kind of quote`);
    return line;
  }).join('');
}
