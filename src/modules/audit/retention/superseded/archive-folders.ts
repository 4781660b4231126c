import { access, readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { readLine, type ArchiveManifest, type LineOf } from '../../../../domain/audit/export/export-lines.js';
import type { ArchiveStore } from '../../../../platform/audit/archive-store.js';
import { DirectoryArchive } from '../archives/directory-archive.js';
import { disclosuresName, manifestName, skeletonName } from '../archives/archive-names.js';
import { manifestIn } from './archive-objects.js';

/** What a folder holds: every organization's archives, those of one, or the archive of one sweep. */
export type FolderOf = 'all' | 'organization' | 'sweep';

/** An archive where it was found, and whose it says that it is. */
export interface FoundArchive {
  readonly organizationId: string;
  readonly sweepId: string;
  readonly folder: string;
  /** Its first line, where that can be read. */
  readonly header?: LineOf<'export'>;
}

export interface FoundArchives {
  readonly covers: FolderOf;
  readonly archives: readonly FoundArchive[];
}

const FILES = [skeletonName, disclosuresName, manifestName].map((name) => basename(name.of('', '')));
/** By how many folders an archive lies below. */
const LEVELS: readonly FolderOf[] = ['sweep', 'organization', 'all'];

/**
 * Looks for archives in a folder: in itself, in those in it, and in those in these.
 *
 * @throws Error where there is no such folder
 */
export async function archivesIn(folder: string): Promise<FoundArchives> {
  await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    const which = 'that of all archives, of one organization\'s, or of one sweep\'s';
    throw new Error(`the folder ${folder} cannot be read (${error.code}): give ${which}`, { cause: error });
  });
  let folders = [folder];
  for (const covers of LEVELS) {
    const found = await filtered(folders, isArchive);
    if (found.length > 0) return { covers, archives: await Promise.all(found.map(foundIn)) };
    folders = (await Promise.all(folders.map(foldersIn))).flat();
  }
  return { covers: 'all', archives: [] };
}

/** Archives by whose they are, wherever they lie. */
export class LocatedArchives implements Pick<ArchiveStore, 'read'> {
  constructor(private readonly archives: readonly FoundArchive[]) {}

  async *read(name: string): AsyncGenerator<string> {
    const [organizationId, sweepId, file] = name.split('/');
    const found = this.archives.find((one) => one.organizationId === organizationId && one.sweepId === sweepId);
    if (!found) throw new Error('it is not there');
    yield* new DirectoryArchive(found.folder).read(file!);
  }
}

async function foundIn(folder: string): Promise<FoundArchive> {
  const header = await headerIn(folder);
  const manifest = await manifestOf(folder);
  const organizationId = header?.organizations[0] ?? basename(dirname(folder));
  return { organizationId, sweepId: manifest?.sweepId ?? basename(folder), folder, ...(header ? { header } : {}) };
}

function manifestOf(folder: string): Promise<ArchiveManifest | undefined> {
  const store = new DirectoryArchive(folder);
  return manifestIn({ read: (name) => store.read(basename(name)) }, '', '');
}

async function headerIn(folder: string): Promise<LineOf<'export'> | undefined> {
  try {
    for await (const text of new DirectoryArchive(folder).read(basename(skeletonName.of('', '')))) {
      const line = readLine(text);
      return typeof line !== 'string' && line.kind === 'export' ? line : undefined;
    }
  } catch {
    // What is wrong with it is told when all of it is read.
  }
  return undefined;
}

async function isArchive(folder: string): Promise<boolean> {
  const there = await filtered(FILES, (file) => access(join(folder, file)).then(() => true, () => false));
  return there.length > 0;
}

async function foldersIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(folder, name)).sort();
}

async function filtered<T>(items: readonly T[], isWanted: (item: T) => Promise<boolean>): Promise<T[]> {
  const wanted = await Promise.all(items.map(isWanted));
  return items.filter((_, n) => wanted[n]);
}
