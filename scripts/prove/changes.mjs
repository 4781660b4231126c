// Which files a change touches: all commits since the branch left the main one, or the last commit on the main branch itself, and what is
// not committed yet.
import { spawnSync } from 'node:child_process';

const MAIN_BRANCHES = ['origin/main', 'main'];

/**
 * @param {string | undefined} since a commit; else it is found out
 * @returns {{ since: string, files: string[] } | undefined} undefined where there is no history to compare with
 */
export function changes(since) {
  const base = since === undefined ? forkPoint() : git('rev-parse', '--verify', `${since}^{commit}`)[0];
  if (base === undefined) return undefined;
  const files = [...git('diff', '--name-only', base), ...git('ls-files', '--others', '--exclude-standard')];
  return { since: git('log', '-1', '--format=%h %s', base)[0], files: [...new Set(files)].sort() };
}

function forkPoint() {
  const [head] = git('rev-parse', '--verify', 'HEAD');
  if (head === undefined) return undefined;
  for (const branch of MAIN_BRANCHES) {
    const [base] = git('merge-base', branch, 'HEAD');
    if (base !== undefined && base !== head) return base;
  }
  return git('rev-parse', '--verify', 'HEAD~1')[0];
}

/** The lines that git answers; none where it refuses. */
function git(...words) {
  const { status, stdout } = spawnSync('git', words, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'], maxBuffer: 1 << 26 });
  return status === 0 ? stdout.split('\n').filter((line) => line !== '') : [];
}
