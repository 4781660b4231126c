import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { CHECKOUT } from './test-run.js';

export interface LintOutcome {
  readonly passed: boolean;
  /** `path rule` for each finding. */
  readonly findings: string[];
}

/** Runs the repository's own lint over a small checkout of the given files, which exists only for that moment. */
export async function lintFiles(checks: string, files: Readonly<Record<string, string>>): Promise<LintOutcome> {
  // In the run's own folder, so that an interrupted run leaves nothing.
  const root = mkdtempSync(join(process.env.COUNTERSIGN_TEST_RUN ?? tmpdir(), 'lint-'));
  try {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), text);
    }
    return await lint(root, checks);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

function lint(root: string, checks: string): Promise<LintOutcome> {
  const args = [join(CHECKOUT, 'scripts/lint.mjs'), '--root', root, '--only', checks];
  return new Promise((resolve, reject) => {
    execFile(process.execPath, args, { cwd: CHECKOUT, env: { PATH: process.env.PATH } }, (error, stdout, stderr) => {
      // Exit code 1 is findings; anything else is the linter itself failing.
      if (error !== null && error.code !== 1) return reject(new Error(`lint failed: ${stderr}\n${stdout}`));
      const findings = [...stdout.matchAll(/^(\S+):\d+ {2}(\S+) {2}/gm)].map(([, path, rule]) => `${path} ${rule}`);
      if (error !== null && findings.length === 0) return reject(new Error(`lint failed without a finding: ${stderr}${stdout}`));
      resolve({ passed: error === null, findings });
    });
  });
}
