import { type ChildProcess, spawn } from 'node:child_process';
import { CHECKOUT } from '../servers/test-run.js';

/** A program that runs, and what it has said so far. */
export interface Program {
  said(): string;
  /** Its exit code, once it has ended. */
  readonly ended: Promise<number | null>;
  kill(): void;
}

/** Runs a script with Node as a person would, with no more of an environment than is given. */
export function runProgram(
  script: string, { args = [], env, cwd = CHECKOUT }: { args?: readonly string[]; env: Readonly<Record<string, string>>; cwd?: string },
): Program {
  const child: ChildProcess = spawn(process.execPath, [script, ...args], {
    cwd, env: { PATH: process.env['PATH'] ?? '', ...env }, stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [child.stdout!, child.stderr!]) stream.on('data', (part: Buffer) => (said += part.toString('utf8')));
  const ended = new Promise<number | null>((done) => child.once('close', done));
  return { said: () => said, ended, kill: () => void child.kill('SIGKILL') };
}
