import { execFile } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { CHECKOUT, runFolder } from '../../support/servers/test-run.js';

/** `line rule` for each finding of the repository's own configuration, in a file of the domain. */
async function rulesBroken(text: string): Promise<string[]> {
  const root = mkdtempSync(join(runFolder(), 'style-'));
  try {
    for (const name of ['eslint.config.mjs', 'node_modules']) symlinkSync(join(CHECKOUT, name), join(root, name));
    for (const name of ['.oxlintrc.json', 'tsconfig.json']) copyFileSync(join(CHECKOUT, name), join(root, name));
    mkdirSync(join(root, 'src/domain'), { recursive: true });
    writeFileSync(join(root, 'src/domain/one.ts'), text);
    const lines = await new Promise<string>((resolve) => {
      const command = [join(CHECKOUT, 'scripts/lint.mjs'), '--only', 'style', '--root', root];
      execFile(process.execPath, command, { env: { PATH: process.env.PATH } }, (_error, stdout, stderr) => resolve(`${stdout}${stderr}`));
    });
    const found = [...lines.matchAll(/^src\/domain\/one\.ts:(\d+) {2}(\S+) /gm)].map(([, line, rule]) => `${line} ${rule}`);
    if (found.length === 0) throw new Error(lines);
    return found;
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
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
        /* 11 */ "export const text: string = JSON.parse('1');",
        /* 12 */ 'export const thrown = () => { throw begin; };',
        /* 13 */ "export function ofTwo(one: 'a' | 'b'): void { switch (one) { case 'a': begin(); } }",
      ].join('\n'),
    );
    expect(broken.sort()).toEqual([
      '10 no-restricted-syntax',
      '11 typescript(no-unsafe-assignment)',
      '12 typescript(only-throw-error)',
      '13 typescript(switch-exhaustiveness-check)',
      '2 typescript(no-floating-promises)',
      '3 @typescript-eslint/no-explicit-any',
      '4 typescript(no-misused-promises)',
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
