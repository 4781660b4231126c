import { chmodSync, mkdtempSync, statfsSync } from 'node:fs';
import { arch, cpus, platform, release, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import type pg from 'pg';
import type { Options } from './options.js';

/** What a figure depends on besides the code. */
export interface Environment {
  readonly date: string;
  readonly cores: number;
  readonly processor: string;
  readonly memoryBytes: number;
  readonly system: string;
  readonly node: string;
  readonly postgresql: string;
  readonly settings: Readonly<Record<string, string>>;
  readonly load: string;
}

const SETTINGS = ['fsync', 'synchronous_commit', 'full_page_writes', 'shared_buffers', 'max_wal_size'] as const;

/** @throws Error where PostgreSQL would not wait for the disk: such figures would mean nothing */
export async function environmentOf(database: pg.Client, load: string, options: Options): Promise<Environment> {
  const settings: Record<string, string> = {};
  for (const name of [...SETTINGS, ...Object.keys(options.settings)]) {
    const { rows } = await database.query<{ value: string }>('select current_setting($1) as value', [name]);
    settings[name] = rows[0]!.value;
  }
  if (settings['fsync'] !== 'on' || settings['synchronous_commit'] !== 'on') throw new Error('PostgreSQL runs without fsync');
  const { rows } = await database.query<{ version: string }>(`select current_setting('server_version') as version`);
  const processors = cpus();
  return {
    date: new Date().toISOString(), cores: processors.length, processor: processors[0]?.model.trim() ?? 'unknown',
    memoryBytes: totalmem(), system: `${platform()} ${release()} ${arch()}`, node: process.versions.node,
    postgresql: rows[0]!.version, settings, load,
  };
}

/** A fresh folder. Started by root, the database runs as another user, who has to come through. */
export function openFolder(prefix: string): string {
  const folder = mkdtempSync(prefix);
  if (process.getuid?.() === 0) chmodSync(folder, 0o711);
  return folder;
}

const TMPFS = 0x01021994;

/** A fresh folder on a disk: where /tmp is memory, fsync there costs nothing, and every figure would be too good. */
export function workFolder({ dataDir }: Options): string {
  const parents = dataDir === undefined ? [tmpdir(), '/var/tmp'] : [dataDir];
  for (const parent of parents) {
    try {
      if (statfsSync(parent).type !== TMPFS) return openFolder(join(parent, 'countersign-bench-'));
    } catch {
      // Not on this system; the next one.
    }
  }
  throw new Error('There is no folder on a disk for PostgreSQL\'s files: name one with --data-dir.');
}
