import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { CHECKOUT, type Environment } from './test-run.js';

export interface TerminalResult {
  readonly code: number | null;
  readonly output: string;
}

/**
 * Runs `node bin/countersign.mjs …` on a terminal of its own, by util-linux's `script`.
 *
 * @param answers what is typed where the output so far ends like the first of each pair; typed once
 */
export function onTerminal(
  words: readonly string[], env: Environment, answers: readonly (readonly [prompt: RegExp, type: () => string | Promise<string>])[] = [],
): Promise<TerminalResult> {
  const quoted = [process.execPath, join(CHECKOUT, 'bin', 'countersign.mjs'), ...words].map((word) => `'${word.replaceAll("'", `'\\''`)}'`);
  const { PATH, HOME, TMPDIR } = process.env;
  const child = spawn('script', ['--quiet', '--return', '--flush', '--command', `stty cols 160; exec ${quoted.join(' ')}`, '/dev/null'], {
    cwd: CHECKOUT, env: { PATH, HOME, TMPDIR, TERM: 'xterm-256color', NODE_ENV: 'test', ...env }, stdio: ['pipe', 'pipe', 'pipe'],
  });
  let output = '';
  const left = [...answers];
  return new Promise((resolve, reject) => {
    const fail = (error: unknown) => {
      child.kill();
      reject(error instanceof Error ? error : new Error(String(error)));
    };
    child.stdout.on('data', (part: Buffer) => {
      output += part.toString();
      const [next] = left;
      if (!next?.[0].test(output)) return;
      left.shift();
      void Promise.resolve(next[1]()).then((text) => child.stdin.write(text), fail);
    });
    child.once('error', fail);
    child.once('close', (code) => resolve({ code, output }));
  });
}
