import { rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { checkoutRoot } from '../platform/config/checkout-root.js';
import type { Config } from '../platform/config/config.js';
import { makeFolders } from '../platform/embedded/make-folders.js';
import { StartRefused } from '../platform/config/start-refused.js';

const FOLDER = 'file:';

/**
 * In production something outside of the database has to keep checkpoints, or it has to be said that nothing does: a read-only container
 * would run for months without. A witness is asked later, and may be away for now.
 *
 * @throws StartRefused where folders are all there is, and none can be written
 */
export async function refuseWithoutAnchor({ production, auditAnchors }: Pick<Config, 'production' | 'auditAnchors'>): Promise<void> {
  if (!production || auditAnchors.length === 0 || auditAnchors.some((name) => !name.startsWith(FOLDER))) return;
  const failures = await Promise.all(auditAnchors.map((name) => whyNotWritable(resolve(checkoutRoot(), name.slice(FOLDER.length)))));
  if (failures.includes(undefined)) return;
  const shown = auditAnchors.map((name, at) => `${name} (${failures[at]})`).join(', ');
  throw new StartRefused(
    `AUDIT_ANCHORS: no anchor can be written: ${shown}. Make the folder writable (in a container: a volume), name another one or a `
    + 'witness; or set AUDIT_ANCHORS=none to run without, and nothing shows when the database was rewritten or put back.',
  );
}

async function whyNotWritable(folder: string): Promise<string | undefined> {
  const probe = join(folder, `.writable-${process.pid}`);
  try {
    makeFolders(folder, 0o777);
    await writeFile(probe, '');
    await rm(probe);
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? 'unknown error';
  }
}
