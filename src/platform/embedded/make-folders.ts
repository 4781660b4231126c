import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Makes a folder and those above it. Node's own `recursive` loops for ever where a folder that exists refuses a new one
 * as if it did not (`/proc`).
 *
 * @param mode of each folder that is made
 * @throws the system's error for the first folder that cannot be made
 */
export function makeFolders(folder: string, mode: number): void {
  try {
    mkdirSync(folder, { mode });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') return;
    const above = dirname(folder);
    if (code !== 'ENOENT' || above === folder) throw error;
    makeFolders(above, mode);
    // Once: what still does not exist then never will.
    mkdirSync(folder, { mode });
  }
}
