import { spawn } from 'node:child_process';
import { describe, expect, test } from '@jest/globals';
import { CHECKOUT } from '../../support/servers/test-run.js';

// Linted in the place of a file that exists, since the rules with types know the program's files only.
const PLACE = 'src/domain/ids.ts';

interface LintedFile {
  readonly messages: readonly { readonly ruleId: string | null; readonly line: number }[];
}

/** `line rule` for each finding of the repository's ESLint configuration. */
async function rulesBroken(text: string): Promise<string[]> {
  const eslint = spawn(
    process.execPath,
    ['node_modules/eslint/bin/eslint.js', '--stdin', '--stdin-filename', PLACE, '--format', 'json'],
    // In a single run the parser would read the file from the disk instead of what stands on the input.
    { cwd: CHECKOUT, env: { PATH: process.env.PATH, TSESTREE_SINGLE_RUN: 'false' }, stdio: ['pipe', 'pipe', 'pipe'] },
  );
  const chunks: Buffer[] = [];
  const errors: Buffer[] = [];
  eslint.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  eslint.stderr.on('data', (chunk: Buffer) => errors.push(chunk));
  const ended = new Promise((resolve) => eslint.once('close', resolve));
  eslint.stdin.end(text);
  await ended;
  if (chunks.length === 0) throw new Error(Buffer.concat(errors).toString('utf8'));
  const files = JSON.parse(Buffer.concat(chunks).toString('utf8')) as LintedFile[];
  return files.flatMap(({ messages }) => messages.map(({ line, ruleId }) => `${line} ${ruleId ?? 'parse'}`));
}

describe('style', () => {
  test('each of these is named, at its line', async () => {
    const broken = await rulesBroken(
      [
        /*  1 */ 'const later = async (): Promise<number> => 1;',
        /*  2 */ 'export function begin() { later(); }',
        /*  3 */ 'export const items: any = [];',
        /*  4 */ 'export const doubled = [1].filter(async () => true);',
        /*  5 */ 'export default begin;',
        /*  6 */ 'export class AgentHelper {}',
        /*  7 */ '// eslint-disable-next-line eqeqeq',
        /*  8 */ 'export const same = (a: number, b: number) => a == b;',
        /*  9 */ `export const long = '${'x'.repeat(130)}';`,
        /* 10 */ "import pg from 'pg'; export const client = new pg.Client({});",
      ].join('\n'),
    );
    expect(broken.sort()).toEqual([
      '10 no-restricted-syntax',
      '2 @typescript-eslint/no-floating-promises',
      '3 @typescript-eslint/no-explicit-any',
      '4 @typescript-eslint/no-misused-promises',
      '5 no-restricted-syntax',
      '6 no-restricted-syntax',
      '7 local/explained-disable',
      '9 max-len',
    ]);
  });

  test('module mocks and skipped tests are named', async () => {
    const broken = await rulesBroken(
      ['declare const jest: any, it: any;', `jest.mock('./x.js');`, `it.skip('later', () => undefined);`].join('\n'),
    );
    expect(broken).toEqual(expect.arrayContaining(['2 no-restricted-properties', '3 no-restricted-properties']));
  });
});
