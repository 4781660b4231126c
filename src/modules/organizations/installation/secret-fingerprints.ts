import type { ServerSecrets } from '../../../platform/config/config.js';
import { StartRefused } from '../../../platform/config/start-refused.js';
import { fingerprintOf, signingFingerprintOf } from './fingerprints.store.js';

/** By the names of the variables. */
export type Fingerprints = Readonly<Record<'JWT_SECRET' | 'ENCRYPTION_KEY' | 'AUDIT_SIGNING_KEY', string>>;

export function fingerprintsOf({ jwtSecret, encryptionKey, auditSigningKey }: ServerSecrets, instance: string): Fingerprints {
  return {
    JWT_SECRET: fingerprintOf(jwtSecret),
    ENCRYPTION_KEY: fingerprintOf(encryptionKey),
    AUDIT_SIGNING_KEY: signingFingerprintOf(auditSigningKey, instance),
  };
}

/** @throws StartRefused naming the secrets that differ from those that the database keeps fingerprints of */
export function assertSameSecrets(kept: Readonly<Record<string, string>>, present: Fingerprints): void {
  const other = (Object.keys(present) as (keyof Fingerprints)[]).filter((name) => kept[name] !== present[name]);
  if (other.length === 0) return;
  throw new StartRefused(
    `${other.join(', ')}: is not the one that this database was set up with. Start with the same secrets as the other replicas.`,
  );
}
