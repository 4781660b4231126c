import { spawn } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { CHECKOUT, type Environment, runFolder } from './test-run.js';

export interface CommandResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs `node bin/countersign.mjs …` as an operator does, with these variables and none of the tester's own; in a home of its own, as all
 * databases of a run are one installation to what is remembered there.
 */
export function countersign(words: readonly string[], env: Environment = {}): Promise<CommandResult> {
  const { PATH, TMPDIR } = process.env;
  const HOME = mkdtempSync(join(runFolder(), 'home-'));
  // In tests no .env is read: it might name somebody's database.
  const child = spawn(process.execPath, [join(CHECKOUT, 'bin', 'countersign.mjs'), ...words], {
    cwd: CHECKOUT, env: { PATH, HOME, TMPDIR, NODE_ENV: 'test', ...env }, stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (part: Buffer) => (stdout += part.toString()));
  child.stderr.on('data', (part: Buffer) => (stderr += part.toString()));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, stdout, stderr }));
  });
}

/** Rotates the root key of a database by the command. @returns the new one */
export async function rotateRootKey(databaseUrl: string): Promise<string> {
  const { code, stdout, stderr } = await countersign(['key', 'rotate', '--json'], { DATABASE_URL: databaseUrl });
  if (code !== 0) throw new Error(`key rotate ended with ${code}: ${stderr}`);
  return (JSON.parse(stdout) as { rootKey: string }).rootKey;
}
