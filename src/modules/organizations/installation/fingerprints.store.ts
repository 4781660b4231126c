import type { RunStatement } from '../../../platform/auth/credentials/credential-source.js';
import { fingerprintBy } from '../../../platform/secrets/fingerprint.js';

/** Of the signing key and the installation's name together: who has the database and not the key cannot give it another name. */
export function signingFingerprintOf(auditSigningKey: string, instance: string): string {
  return fingerprintBy(auditSigningKey, `countersign signing key fingerprint v1 ${instance}`);
}

/** From the commit on servers start with this key, and with no other. */
export async function acceptSigningKey(run: RunStatement, auditSigningKey: string, instance: string): Promise<void> {
  await run(
    `update instance
     set secret_fingerprints = (secret_fingerprints::jsonb || jsonb_build_object('AUDIT_SIGNING_KEY', $1::text))::json`,
    [signingFingerprintOf(auditSigningKey, instance)],
  );
}

/** What the database keeps of a secret; undefined where it was never set up. */
export async function keptFingerprint(run: RunStatement, name: string): Promise<string | undefined> {
  const [row] = await run('select secret_fingerprints ->> $1 as kept from instance', [name]);
  return row === undefined ? undefined : String(row.kept);
}

/** Compare-and-set. @returns false where it is something else by now */
export async function replaceFingerprint(run: RunStatement, name: string, from: string, to: string): Promise<boolean> {
  const changed = await run(
    `with changed as (
       update instance set secret_fingerprints = (secret_fingerprints::jsonb || jsonb_build_object($1::text, $3::text))::json
       where secret_fingerprints ->> $1 = $2 returning 1)
     select 1 from changed`,
    [name, from, to],
  );
  return changed.length === 1;
}
