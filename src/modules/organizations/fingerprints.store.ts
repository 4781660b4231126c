import { createHmac } from 'node:crypto';
import type { RunStatement } from '../../platform/auth/credential-source.js';

/** Keyed by the secret itself, so that a fingerprint says nothing but "the same" or "another". */
export function fingerprintOf(secret: string): string {
  return createHmac('sha256', secret).update('countersign secret fingerprint v1').digest('hex').slice(0, 32);
}

/** From the commit on servers start with this key, and with no other. */
export async function acceptSigningKey(run: RunStatement, auditSigningKey: string): Promise<void> {
  await run(
    `update instance
     set secret_fingerprints = (secret_fingerprints::jsonb || jsonb_build_object('AUDIT_SIGNING_KEY', $1::text))::json`,
    [fingerprintOf(auditSigningKey)],
  );
}
