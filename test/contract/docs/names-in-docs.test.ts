import { describe, expect, test } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CHECKOUT } from '../../support/servers/test-run.js';

const ELSEWHERE = ['node_modules', '.git', 'data'];
const FILES = filesBelow('');
const CODE = /\.(ts|mjs|cjs|json|yml|pml|html|css|sh)$/;
const PATH = /^[\w.-]+\/[\w./-]+\.(ts|mjs|cjs|json|pml|md|sh|html)$/;
const NAME = /^[A-Za-z_$][\w$]*(\.[A-Za-z_$][\w$]*)*(\(\))?$/;
/** Of a name that only code has: camel case, or the version of a function of the database. */
const IS_OF_CODE = /[a-z][A-Z]|_v\d+$/;

function filesBelow(folder: string): string[] {
  return readdirSync(join(CHECKOUT, folder), { withFileTypes: true }).filter(({ name }) => !ELSEWHERE.includes(name)).flatMap((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? filesBelow(path) : [path];
  });
}

const textOf = (file: string) => readFileSync(join(CHECKOUT, file), 'utf8');

function namedIn(page: string): { line: number; name: string }[] {
  const prose = textOf(page).replace(/```[\s\S]*?```/g, (block) => block.replace(/[^\n]/g, ''));
  return prose.split('\n').flatMap((text, index) => [...text.matchAll(/`([^`]+)`/g)].map(([, name]) => ({ line: index + 1, name: name! })));
}

/** What a page names and nothing in the repository is called. */
function missingFrom(page: string, words: ReadonlySet<string>): string[] {
  return namedIn(page).flatMap(({ line, name }) => {
    if (PATH.test(name)) return FILES.some((file) => file === name || file.endsWith(`/${name}`)) ? [] : [`${page}:${line} ${name}`];
    if (!NAME.test(name)) return [];
    const missing = name.replace('()', '').split('.').filter((word) => IS_OF_CODE.test(word) && !words.has(word));
    return missing.map((word) => `${page}:${line} ${word}`);
  });
}

describe('the names of code and files', () => {
  const pages = FILES.filter((file) => file.endsWith('.md'));

  test('in every page are those of the repository', () => {
    const code = FILES.filter((file) => CODE.test(file) && !/^(docs|dist)\/|package-lock\.json$/.test(file));
    const words = new Set(code.flatMap((file) => textOf(file).match(/[A-Za-z_$][\w$]*/g) ?? []));
    expect(pages.flatMap((page) => missingFrom(page, words))).toEqual([]);
    expect(pages.flatMap(namedIn).filter(({ name }) => NAME.test(name) && IS_OF_CODE.test(name)).length).toBeGreaterThan(300);
  });
});
