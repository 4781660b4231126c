// The size of folders: each is a room that can be looked over at once.
import { dirname } from 'node:path';
import { isTest } from './sources.mjs';

export const MAX_FILES = 15;

/** In `src` the tests beside the code are not counted: each stands with the file that it tests. */
export function checkLayout(sources) {
  const counted = sources.filter(({ path }) => !(path.startsWith('src/') && isTest(path)));
  const folders = groupByFolder(counted);
  const crowded = [...folders].filter(([, files]) => files.length > MAX_FILES);
  return crowded.map(([path, files]) => ({
    path, line: 1, rule: 'small-folders', message: `${files.length} files, at most ${MAX_FILES}: is there a room missing?`,
  }));
}

function groupByFolder(sources) {
  const folders = new Map();
  for (const source of sources) {
    const folder = dirname(source.path);
    folders.set(folder, [...(folders.get(folder) ?? []), source]);
  }
  return folders;
}
