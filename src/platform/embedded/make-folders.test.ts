import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { makeFolders } from './make-folders.js';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'countersign-folders-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

describe('making folders', () => {
  it('makes those above, and leaves what is there', () => {
    makeFolders(join(root, 'a/b/c'), 0o700);
    makeFolders(join(root, 'a/b/c'), 0o755);
    expect(statSync(join(root, 'a/b/c')).mode & 0o777).toBe(0o700);
  });

  it.each([
    ['below a file', () => join(root, 'file/x/y')],
    ['where the system refuses any', () => '/proc/x/y'],
  ])('fails %s', (_, folder) => {
    writeFileSync(join(root, 'file'), '');
    expect(() => makeFolders(folder(), 0o700)).toThrow();
  });
});
