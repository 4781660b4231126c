// The size of files and folders: a file has one subject, and a folder can be looked over at once.
import { dirname } from 'node:path';
import { isTest } from './sources.mjs';

export const MAX_FILES = 15;
export const MAX_LINES = 300;

/** In `src` the tests beside the code are not counted: each stands with the file that it tests. */
export function checkLayout(sources) {
  const counted = sources.filter(({ path }) => !(path.startsWith('src/') && isTest(path)));
  const folders = groupByFolder(counted);
  const crowded = [...folders].filter(([, files]) => files.length > MAX_FILES);
  const long = sources.filter(({ text }) => linesOf(text) > MAX_LINES);
  return [
    ...crowded.map(([path, files]) => ({
      path, line: 1, rule: 'small-folders', message: `${files.length} files, at most ${MAX_FILES}: is there a folder missing?`,
    })),
    ...long.map(({ path, text }) => ({
      path, line: 1, rule: 'short-files', message: `${linesOf(text)} lines, at most ${MAX_LINES}: does it have two subjects?`,
    })),
  ];
}

function groupByFolder(sources) {
  const folders = new Map();
  for (const source of sources) {
    const folder = dirname(source.path);
    folders.set(folder, [...(folders.get(folder) ?? []), source]);
  }
  return folders;
}

function linesOf(text) {
  return text.split('\n').length - (text.endsWith('\n') ? 1 : 0);
}
