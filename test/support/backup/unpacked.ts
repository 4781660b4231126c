import { decrypted } from '../../../src/cli/backup/file/age-file.js';
import { MANIFEST, readManifest, type Manifest } from '../../../src/cli/backup/file/manifest.js';
import { tarMembers } from '../../../src/cli/backup/file/tar.js';
import { openerOf, type BackupPlace } from './backups.js';

/** The files in a backup, by their paths. */
export async function unpacked(file: string, place: BackupPlace): Promise<Record<string, string>> {
  const files: Record<string, string> = {};
  for await (const { name, content } of tarMembers(decrypted(file, openerOf(place)))) {
    const parts: Uint8Array[] = [];
    for await (const part of content) parts.push(part);
    files[name] = Buffer.concat(parts).toString('utf8');
  }
  return files;
}

export async function manifestOf(file: string, place: BackupPlace): Promise<Manifest> {
  return readManifest((await unpacked(file, place))[MANIFEST]!);
}
