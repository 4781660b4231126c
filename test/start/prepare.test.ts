import { afterEach, describe, expect, it } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { checkoutRoot } from '../../src/platform/config/checkout-root.js';

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

/** A checkout in small: its compiler and its npm write down that they were called. */
class Checkout {
  readonly root = mkdtempSync(join(tmpdir(), 'countersign-prepare-'));

  constructor() {
    folders.push(this.root);
    mkdirSync(join(this.root, 'scripts'));
    cpSync(join(checkoutRoot(), 'scripts', 'prepare.mjs'), join(this.root, 'scripts', 'prepare.mjs'));
    cpSync(join(checkoutRoot(), 'scripts', 'build.mjs'), join(this.root, 'scripts', 'build.mjs'));
    this.write('src/main.ts', 'first');
    this.write('src/gone.ts', 'will go');
    this.lock({
      'node_modules/typescript': { version: '1.0.0', dev: true },
      'node_modules/other-platform': { version: '1.0.0', optional: true },
    });
    this.write('node_modules/typescript/bin/tsc', `
      const { appendFileSync, mkdirSync, writeFileSync } = require('node:fs');
      appendFileSync('calls', 'build ');
      mkdirSync('dist/src', { recursive: true });
      writeFileSync('dist/src/main.js', '');
      writeFileSync('dist/src/gone.js', '');
      process.exitCode = require('node:fs').readFileSync('src/main.ts', 'utf8') === 'wrong' ? 2 : 0;`);
    const npm = '#!/bin/sh\nprintf "%s " "$1" >> calls\ncp package-lock.json node_modules/.package-lock.json\n';
    this.write('tools/npm', npm, 0o755);
  }

  write(path: string, content: string, mode = 0o644): void {
    mkdirSync(dirname(join(this.root, path)), { recursive: true });
    writeFileSync(join(this.root, path), content, { mode });
  }

  lock(packages: Record<string, object>): void {
    this.write('package-lock.json', JSON.stringify({ packages: { '': {}, ...packages } }));
  }

  /** What was called since the last time, and the exit code. */
  prepare(): { calls: string; status: number | null; stderr: string } {
    rmSync(join(this.root, 'calls'), { force: true });
    const { status, stderr } = spawnSync(process.execPath, [join(this.root, 'scripts', 'build.mjs')], {
      env: { PATH: `${join(this.root, 'tools')}:${process.env.PATH}` }, encoding: 'utf8', cwd: '/',
    });
    const calls = join(this.root, 'calls');
    return { calls: existsSync(calls) ? readFileSync(calls, 'utf8').trim() : '', status, stderr };
  }
}

describe('prepare', () => {
  it('installs and builds once', () => {
    const checkout = new Checkout();
    expect(checkout.prepare()).toMatchObject({ calls: 'ci build', status: 0 });
    expect(checkout.prepare()).toEqual({ calls: '', status: 0, stderr: '' });
  });

  it('builds again when a source differs, not when only its time does', () => {
    const checkout = new Checkout();
    checkout.prepare();
    utimesSync(join(checkout.root, 'src', 'main.ts'), new Date(), new Date());
    expect(checkout.prepare().calls).toBe('');
    checkout.write('src/main.ts', 'other');
    expect(checkout.prepare().calls).toBe('build');
    checkout.write('migrations/1.ts', 'new');
    expect(checkout.prepare().calls).toBe('build');
    checkout.write('src/main.test.ts', 'a test is no part of the build');
    expect(checkout.prepare().calls).toBe('');
    rmSync(join(checkout.root, 'dist', 'src', 'main.js'));
    expect(checkout.prepare().calls).toBe('build');
  });

  it('removes outputs whose source is gone', () => {
    const checkout = new Checkout();
    checkout.prepare();
    expect(existsSync(join(checkout.root, 'dist/src/gone.js'))).toBe(true);
    rmSync(join(checkout.root, 'src/gone.ts'));
    expect(checkout.prepare().calls).toBe('build');
    expect(existsSync(join(checkout.root, 'dist/src/gone.js'))).toBe(false);
  });

  it('does not take a failed build for one', () => {
    const checkout = new Checkout();
    checkout.write('src/main.ts', 'wrong');
    expect(checkout.prepare()).toMatchObject({ status: 1, stderr: expect.stringMatching(/The build failed; .*\n$/) });
    expect(checkout.prepare()).toMatchObject({ calls: 'build', status: 1 });
  });

  it('installs again when the lock file names another version, or a package is gone', () => {
    const checkout = new Checkout();
    checkout.prepare();
    checkout.lock({ 'node_modules/typescript': { version: '1.0.1', dev: true } });
    expect(checkout.prepare().calls).toMatch(/^ci/);
    expect(checkout.prepare().calls).toBe('');
    checkout.lock({ 'node_modules/typescript': { version: '1.0.1', dev: true }, 'node_modules/added': { version: '2.0.0' } });
    expect(checkout.prepare().calls).toMatch(/^ci/);
    expect(checkout.prepare().calls).toMatch(/^ci/);
    checkout.write('node_modules/added/package.json', '{}');
    expect(checkout.prepare().calls).toBe('');
  });

  it('is not kept waiting by the lock of a process that is gone', () => {
    const checkout = new Checkout();
    const { pid } = spawnSync(process.execPath, ['-e', '']);
    checkout.write('dist/prepare.lock', String(pid));
    expect(checkout.prepare()).toMatchObject({ calls: 'ci build', status: 0 });
  });

  it('takes next to no time when there is nothing to do', () => {
    const script = join(checkoutRoot(), 'scripts', 'prepare.mjs');
    const timed = `const { prepare } = await import(${JSON.stringify(script)}); prepare();
      const began = performance.now(); prepare(); console.log(performance.now() - began);`;
    const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', timed], { encoding: 'utf8' });
    expect(stderr).not.toContain('failed');
    expect(stdout).toMatch(/^\d/);
    expect(Number(stdout)).toBeLessThan(100);
  });
});
