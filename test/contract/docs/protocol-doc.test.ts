import { describe, expect, test } from '@jest/globals';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CHECKOUT } from '../../support/servers/test-run.js';

const textOf = (path: string) => readFileSync(join(CHECKOUT, path), 'utf8');
const PROTOCOL = textOf('docs/protocol.md');
const MODELS = ['decide', 'run', 'node'] as const;

/** Each `file` of the table, with the `functions` that stand behind it. */
function named(): { file: string; functions: string[] }[] {
  return [...PROTOCOL.matchAll(/`(src\/[\w./-]+\.ts)`((?:,? `\w+`)+)/g)].map(([, file, names]) => ({
    file: file!, functions: [...names!.matchAll(/`(\w+)`/g)].map(([, name]) => name!),
  }));
}

function claimsIn(model: string): string[] {
  return [...textOf(`model/${model}.pml`).matchAll(/^\/\* claim (\d+: .+) \*\/$/gm)].map(([, claim]) => claim!.replace(':', ''));
}

describe('docs/protocol.md', () => {
  test.each(named())('$file has $functions', ({ file, functions }) => {
    expect(existsSync(join(CHECKOUT, file))).toBe(true);
    // Declared there: a function, or a method at the beginning of a line.
    for (const name of functions) {
      expect(textOf(file)).toMatch(new RegExp(`^(?:export )?(?:async )?function ${name}\\b|^  (?:private |async )*${name}[(<]`, 'm'));
    }
  });

  test('names a file and a function for most of what it says', () => expect(named().length).toBeGreaterThan(25));

  test.each(MODELS)('lists every claim of model/%s.pml, and each is asserted', (model) => {
    const claims = claimsIn(model);
    expect(claims.length).toBeGreaterThan(6);
    for (const claim of claims) {
      expect(PROTOCOL).toContain(claim);
      expect(textOf(`model/${model}.pml`)).toContain(`CLAIM(${claim.split(' ')[0]!},`);
    }
  });

  test('every guard of the models is taken out by the check, and stands in the table', () => {
    const guards = MODELS.flatMap((model) => [...textOf(`model/${model}.pml`).matchAll(/^#ifn?def (?!ONLY|LIVENESS|COMMANDS)(\w+)$/gm)]);
    const check = textOf('scripts/model.mjs');
    expect(guards.length).toBeGreaterThan(15);
    for (const [, guard] of guards) {
      expect(check).toContain(`'${guard!}'`);
      expect(PROTOCOL).toContain(`\`${guard!}\``);
    }
  });
});
