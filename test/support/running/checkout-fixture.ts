import { afterAll } from '@jest/globals';
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { CHECKOUT } from '../servers/test-run.js';

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

interface Finding {
  readonly path: string;
  readonly rule: string;
}

let linter: ChildProcess | undefined;

/** One process for all of a file's cases: what it loads takes longer than what it looks at. */
async function lint(root: string, checks: string): Promise<LintOutcome> {
  linter ??= fork(join(CHECKOUT, 'test/support/running/linter.mjs'), { cwd: CHECKOUT, env: { PATH: process.env.PATH }, execArgv: [] });
  const answered = once(linter, 'message') as Promise<[{ findings?: Finding[]; failed?: string }]>;
  linter.send({ root, checks });
  const [{ findings, failed }] = await answered;
  if (findings === undefined) throw new Error(`lint failed: ${failed}`);
  return { passed: findings.length === 0, findings: findings.map(({ path, rule }) => `${path} ${rule}`) };
}

afterAll(() => void linter?.disconnect());
