import { mkdir, open } from 'node:fs/promises';
import { dirname, parse, resolve } from 'node:path';

/**
 * Makes a folder and those above it, with their names on the disk: else a crash could lose one with all that is in it. One after the
 * other: made at once, Node.js tries for ever where a file system takes no folders.
 *
 * @param top must be there, and is never made
 */
export async function makeFolders(folder: string, mode = 0o777, top = parse(folder).root): Promise<void> {
  try {
    await mkdir(folder, mode);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') return;
    if (code !== 'ENOENT' || [folder, dirname(folder)].some((one) => resolve(one) === resolve(top))) throw error;
    await makeFolders(dirname(folder), mode, top);
    // Another server may be quicker.
    await mkdir(folder, mode).catch((failure: NodeJS.ErrnoException) => {
      if (failure.code !== 'EEXIST') throw failure;
    });
  }
  await syncFolder(dirname(folder));
}

/** A name is on the disk only once its folder is. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  await handle.sync().finally(() => handle.close());
}
