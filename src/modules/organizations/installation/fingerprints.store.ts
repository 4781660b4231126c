import { createHmac } from 'node:crypto';
import type { RunStatement } from '../../../platform/auth/credentials/credential-source.js';

/** Keyed by the secret itself, so that a fingerprint says nothing but "the same" or "another". */
export function fingerprintOf(secret: string): string {
  return fingerprintBy(secret, 'countersign secret fingerprint v1');
}

/** Of the signing key and the installation's name together: who has the database and not the key cannot give it another name. */
export function signingFingerprintOf(auditSigningKey: string, instance: string): string {
  return fingerprintBy(auditSigningKey, `countersign signing key fingerprint v1 ${instance}`);
}

function fingerprintBy(secret: string, text: string): string {
  return createHmac('sha256', secret).update(text).digest('hex').slice(0, 32);
}

/** From the commit on servers start with this key, and with no other. */
export async function acceptSigningKey(run: RunStatement, auditSigningKey: string, instance: string): Promise<void> {
  await run(
    `update instance
     set secret_fingerprints = (secret_fingerprints::jsonb || jsonb_build_object('AUDIT_SIGNING_KEY', $1::text))::json`,
    [signingFingerprintOf(auditSigningKey, instance)],
  );
}
