import { verifierKey } from '../../domain/audit/notes/note.js';
import { given } from '../../domain/given.js';
import { newestCheckpoint } from '../../modules/audit/checkpoints/checkpoint.query.js';
import { logCheckOf } from '../../modules/audit/verification/log-checks.js';
import { sqlLogSource } from '../../modules/audit/verification/source/log-source.query.js';
import { verification, type Verification } from '../../modules/audit/verification/verification-result.js';
import { assertSameSecrets, fingerprintsOf } from '../../modules/organizations/installation/secret-fingerprints.js';
import type { RunStatement } from '../../platform/auth/credentials/credential-source.js';
import { StartRefused } from '../../platform/config/start-refused.js';
import { RECORD_KEEPERS } from '../verification/verify-log.js';
import { instanceFacts, treesOf } from './database/backup-snapshot.query.js';
import type { ReadBackup } from './file/read-backup.js';
import { serverSecretsOf } from './installation-secrets.js';

export interface InspectionOptions {
  /** Only these keys are believed, where any are given. */
  readonly verifierKeys: readonly string[];
  /** Whether a log that was tampered with is no reason to refuse. */
  readonly evenTampered: boolean;
  readonly onProgress: (entries: number, total: number) => void;
}

/**
 * Compares what stands in the database with what the backup says of itself, and verifies the whole log.
 *
 * @throws StartRefused when it is not what was backed up, or its log was tampered with
 */
export async function inspectRestored(
  run: RunStatement, { manifest, secrets }: ReadBackup, { verifierKeys, evenTampered, onProgress }: InspectionOptions,
): Promise<Verification> {
  const { instance, fingerprints } = await instanceFacts(run);
  const seed = secrets.AUDIT_SIGNING_KEY;
  assertSameSecrets(fingerprints, fingerprintsOf(serverSecretsOf(secrets), instance));
  const checkpoint = await newestCheckpoint(run);
  const found = { instance, trees: await treesOf(run), checkpoint: checkpoint ? { size: checkpoint.size, note: checkpoint.note } : null };
  const wanted = { instance: manifest.instance, trees: manifest.trees, checkpoint: manifest.checkpoint };
  if (JSON.stringify(found) !== JSON.stringify(wanted)) {
    throw new StartRefused('the log that was restored is not the one that the manifest of the backup names');
  }
  const begun = performance.now();
  const source = sqlLogSource(run, 'all');
  const pinned = verifierKeys.length > 0 ? { verifierKeys } : {};
  const check = await logCheckOf(run, source, RECORD_KEEPERS, { organizations: 'all', ...pinned });
  const outcome = await verification(source, begun, given({ ownKey: verifierKey(instance, seed), check, onProgress, ...pinned }));
  if (outcome.valid || evenTampered) return outcome;
  const [first] = outcome.breaks;
  throw new StartRefused(`the audit log in this backup was tampered with before it was made (${outcome.breaksFound} found; the first: `
    + `${first?.kind}, ${first?.detail}): restore an older one, or look into this one with --even-tampered`);
}
