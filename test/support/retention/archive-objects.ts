import { readdir } from 'node:fs/promises';
import { join, relative } from 'node:path';

/** Everything of the archives, by name. */
export async function objectsIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name)).sort();
}

/** The same, by the names that the archive has for them. */
export async function namesIn(folder: string): Promise<string[]> {
  return (await objectsIn(folder)).map((file) => relative(folder, file));
}
