import { statSync } from 'node:fs';
import type { Decrypter } from 'age-encryption';
import type { Verification } from '../../modules/audit/verification/verification-result.js';
import { StartRefused } from '../../platform/config/start-refused.js';
import { decrypted } from './file/age-file.js';
import { checkBackup, tableParts, type ReadBackup } from './file/read-backup.js';
import type { RestoreTarget } from './restore-target.js';

export interface RestoreFromFile {
  readonly file: string;
  readonly decrypter: Decrypter;
  /** Where it goes; absent where it is only to be read. */
  readonly target?: RestoreTarget | undefined;
  /** Only these keys are believed, where any are given. */
  readonly verifierKeys: readonly string[];
  /** Whether a log that was tampered with is restored, too. */
  readonly evenTampered: boolean;
  readonly signal: AbortSignal;
  readonly onProgress: (step: 'reading' | 'loading' | 'verifying', done: number, total: number) => void;
}

/** What came of it; without a verification where it was only read. */
export interface Restored extends ReadBackup {
  readonly log?: Verification;
}

/**
 * Reads a backup to its end, and then once more into its target. The first time nothing but the file is touched.
 *
 * @throws StartRefused when the backup is not whole, does not open, does not fit, or its target is not empty; the target is as it was then
 */
export async function restoreFromFile(order: RestoreFromFile): Promise<Restored> {
  const { file, decrypter, target, signal, onProgress } = order;
  const size = statSync(file, { throwIfNoEntry: false })?.size;
  if (size === undefined) throw new StartRefused(`there is no ${file}`);
  const progress = (step: 'reading' | 'loading' | 'verifying', total: number) => (done: number) => {
    signal.throwIfAborted();
    onProgress(step, done, total);
  };
  const open = () => decrypted(file, decrypter);
  const backup = await checkBackup(open, progress('reading', size));
  if (target === undefined) return backup;
  target.assertFits(backup.secrets);
  const [{ restoreBackup }, { inspectRestored }] = await Promise.all([
    import('./database/restore-backup.store.js'), import('./inspect-restored.js'),
  ]);
  const { manifest } = backup;
  const total = manifest.tables.reduce((sum, { bytes }) => sum + bytes, 0);
  let log: Verification | undefined;
  await target.fill(backup.secrets, (url) => restoreBackup({
    url, manifest, parts: () => tableParts(open), onBytes: progress('loading', total),
    inspect: async (run) => {
      log = await inspectRestored(run, backup, {
        verifierKeys: order.verifierKeys, evenTampered: order.evenTampered,
        onProgress: (entries, all) => progress('verifying', all)(entries),
      });
      signal.throwIfAborted();
    },
  }));
  return { ...backup, ...(log ? { log } : {}) };
}
