import { execFileSync } from 'node:child_process';
import { lstatSync, readFileSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/** The user that PostgreSQL runs as; undefined: the one that runs us. */
export interface DatabaseUser {
  readonly uid: number;
  readonly gid: number;
}

/** PostgreSQL refuses to run as root. Then it runs as `nobody`, who exists everywhere, or as whoever owns the data already. */
export function databaseUser(ownerOfData: DatabaseUser | undefined): DatabaseUser | undefined {
  if (process.getuid?.() !== 0) return undefined;
  return ownerOfData && ownerOfData.uid !== 0 ? ownerOfData : nobody();
}

export function ownerOf(path: string): DatabaseUser {
  const { uid, gid } = lstatSync(path);
  return { uid, gid };
}

function nobody(): DatabaseUser {
  try {
    const line = readFileSync('/etc/passwd', 'utf8').split('\n').find((entry) => entry.startsWith('nobody:'));
    const [, , uid, gid] = line?.split(':') ?? [];
    if (Number(uid) > 0 && Number(gid) > 0) return { uid: Number(uid), gid: Number(gid) };
  } catch {
    // No such file here: the system's own tool knows.
  }
  const id = (flag: string) => Number(execFileSync('id', [flag, 'nobody'], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}

/** Whether the user may pass through the folder and every folder above it. */
export function canReach(user: DatabaseUser | undefined, folder: string): boolean {
  if (!user) return true;
  for (let path = resolve(folder); ; path = dirname(path)) {
    const { mode, uid, gid } = statSync(path);
    const bit = uid === user.uid ? 0o100 : gid === user.gid ? 0o010 : 0o001;
    if ((mode & bit) === 0) return false;
    if (path === dirname(path)) return true;
  }
}
