// What is committed runs on other machines: no absolute path of the one it was written on.
import { execFileSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { filesBelow } from './sources.mjs';

// Spelt by parts, or this file would find itself.
const FOLDERS = ['home', 'Users', 'root', 'work'];
// The images' own user, and addresses such as https://host/work/x, are nobody's machine.
const MACHINE_PATH = new RegExp(`(?<![\\w.:/$}-])/(${FOLDERS.join('|')})/(?!node/)[\\w.-]+`);
const TOO_LARGE = 2_000_000;

export function machinePathsIn(path, text) {
  return text.split('\n').flatMap((line, index) => {
    const found = MACHINE_PATH.exec(line);
    return found ? [{ path, line: index + 1, rule: 'no-machine-paths', message: `absolute path ${found[0]}` }] : [];
  });
}

export function checkMachinePaths(root) {
  return committedFiles(root).flatMap((path) => {
    const file = join(root, path);
    const size = statSync(file, { throwIfNoEntry: false })?.size ?? TOO_LARGE;
    if (size >= TOO_LARGE) return [];
    const bytes = readFileSync(file);
    return bytes.includes(0) ? [] : machinePathsIn(path, bytes.toString('utf8'));
  });
}

// Outside of a git checkout (an unpacked archive, a fixture) every file counts as committed.
function committedFiles(root) {
  try {
    const list = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
      cwd: root,
      stdio: ['ignore', 'pipe', 'ignore'],
      maxBuffer: 64 * 1024 * 1024,
    });
    return list.toString('utf8').split('\0').filter(Boolean);
  } catch {
    return filesBelow(root).map((file) => relative(root, file).split(sep).join('/'));
  }
}
