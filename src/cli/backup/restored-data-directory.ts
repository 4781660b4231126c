import { existsSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { StartRefused } from '../../platform/config/start-refused.js';
import type { ServerSecrets } from '../../platform/config/config.js';
import { locateCluster, prepareDataDirectory, removeDataDirectory, RESTORING } from '../../platform/embedded/cluster.js';
import { lockDataDirectory } from '../../platform/embedded/data-lock.js';
import { endOrphan } from '../../platform/embedded/postmaster.js';
import { storeSecrets } from '../../platform/embedded/secret-files.js';
import { startEmbeddedPostgres } from '../../platform/embedded/supervisor.js';

/** The database or what points to it last: it is what a server looks for. */
const MOVED = ['secrets', 'postgres.log', 'postgres.location', 'postgres'];

export interface DataDirectoryOrder {
  readonly dataDir: string;
  readonly secrets: ServerSecrets;
  readonly binDir?: string | undefined;
}

/**
 * Makes a database in a data directory that has none, and gives it its place once `fill` has ended well. What broke off, or was killed, is
 * taken away: by the next restore at the latest. Anchors that are there stay.
 *
 * @throws StartRefused when there is a database or a secret already
 */
export async function fillDataDirectory(order: DataDirectoryOrder, fill: (url: string) => Promise<void>): Promise<void> {
  const dataDir = prepareDataDirectory(order.dataDir);
  const unlock = lockDataDirectory(dataDir);
  const aside = join(dataDir, RESTORING);
  try {
    await clear(aside, dataDir);
    assertEmpty(dataDir);
    try {
      storeSecrets(prepareDataDirectory(aside), order.secrets);
      const database = await startEmbeddedPostgres({ dataDir: aside, ...(order.binDir ? { binDir: order.binDir } : {}) });
      await fill(database.url).finally(() => database.stop());
      for (const name of MOVED) if (existsSync(join(aside, name))) renameSync(join(aside, name), join(dataDir, name));
    } finally {
      removeDataDirectory(aside);
    }
  } finally {
    unlock();
  }
}

/** Whether a restore into it has begun and not ended. */
export const isBegun = (dataDir: string): boolean => existsSync(join(dataDir, RESTORING));

export function assertEmpty(dataDir: string): void {
  if (!existsSync(dataDir)) return;
  const secrets = join(dataDir, 'secrets');
  const hasSecrets = existsSync(secrets) && readdirSync(secrets).length > 0;
  if (!locateCluster(dataDir).exists && !hasSecrets) return;
  throw new StartRefused(`DATA_DIR: ${dataDir} holds a database or its secrets already: name another folder, or move them away; `
    + 'a backup is restored into nothing else');
}

/** What a restore that was killed has left: its database may still be running. */
async function clear(aside: string, dataDir: string): Promise<void> {
  if (!existsSync(aside)) return;
  const { folder, exists } = locateCluster(aside);
  if (exists) await endOrphan(folder, () => undefined);
  // It was killed while things were being moved: then the secrets in place came from here.
  if (exists && !existsSync(join(aside, 'secrets'))) rmSync(join(dataDir, 'secrets'), { recursive: true, force: true });
  removeDataDirectory(aside);
}
