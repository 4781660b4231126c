import type { ServerSecrets } from '../../../platform/config/config.js';
import { StartRefused } from '../../../platform/config/start-refused.js';
import { fingerprintOf, idOfFingerprint } from '../../../platform/secrets/fingerprint.js';
import { signingFingerprintOf } from './fingerprints.store.js';
import { judgeSecret, keptText, parseKept, type PresentFingerprints } from './kept-fingerprint.js';

/** By the names of the variables. */
export type Fingerprints = Readonly<Record<'JWT_SECRET' | 'ENCRYPTION_KEY' | 'AUDIT_SIGNING_KEY', PresentFingerprints>>;

/** As the database has them, by the names of the variables. */
export type KeptFingerprints = Readonly<Record<string, string>>;

export function fingerprintsOf(secrets: ServerSecrets, instance: string): Fingerprints {
  return {
    JWT_SECRET: both(secrets.jwtSecret, secrets.jwtSecretAccepted),
    ENCRYPTION_KEY: both(secrets.encryptionKey, secrets.encryptionKeyAccepted),
    AUDIT_SIGNING_KEY: [signingFingerprintOf(secrets.auditSigningKey, instance)],
  };
}

function both(inUse: string, accepted: string | undefined): PresentFingerprints {
  return accepted === undefined ? [fingerprintOf(inUse)] : [fingerprintOf(inUse), fingerprintOf(accepted)];
}

/** What the log says of a start that changes what the database keeps. */
export function rotationSteps(before: KeptFingerprints, after: KeptFingerprints) {
  return Object.entries(after).flatMap(([secretName, text]) => {
    const [was, is] = [parseKept(before[secretName] ?? ''), parseKept(text)];
    if (was.inUse !== is.inUse) return [{ secretName, step: 'in_use', keyId: idOfFingerprint(is.inUse) }];
    return is.next === undefined || was.next === is.next ? [] : [{ secretName, step: 'accepted', keyId: idOfFingerprint(is.next) }];
  });
}

/** What a database keeps that is set up with these. */
export function firstFingerprints(present: Fingerprints): KeptFingerprints {
  return Object.fromEntries(Object.entries(present).map(([name, [inUse, next]]) =>
    [name, keptText({ inUse, ...(next === undefined ? {} : { next }), leaked: [] })]));
}

/**
 * @returns what the database is to keep once a server has started with these
 * @throws StartRefused naming the secrets that a server cannot start with, by what the database keeps
 */
export function assertSameSecrets(kept: KeptFingerprints, present: Fingerprints): KeptFingerprints {
  const refusals = new Map<string, string[]>();
  const changed: Record<string, string> = { ...kept };
  for (const [name, fingerprints] of Object.entries(present)) {
    const judged = judgeSecret(parseKept(kept[name] ?? ''), fingerprints, Math.floor(Date.now() / 1000));
    if (judged.ok) changed[name] = keptText(judged.kept);
    else refusals.set(judged.because, [...(refusals.get(judged.because) ?? []), name]);
  }
  if (refusals.size === 0) return changed;
  throw new StartRefused([...refusals].map(([because, names]) => `${names.join(', ')}: ${because}`).join('\n'));
}
