import { afterEach, describe, expect, it } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import {
  cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, utimesSync, writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { checkoutRoot } from '../../src/platform/config/checkout-root.js';

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

const TRANSPILER = 'node_modules/@swc/core';
const SERVING = { 'node_modules/serves': { version: '1.0.0' }, 'node_modules/other-platform': { version: '1.0.0', optional: true } };
const DEVELOPMENT = {
  'node_modules/tests': { version: '1.0.0', dev: true },
  'node_modules/other-platform-tests': { version: '1.0.0', dev: true, optional: true },
};

/** npm in small: writes down how it was called, and puts into node_modules what it is told, but for what is named "broken". */
const NPM = `#!${process.execPath}
const { appendFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } = require('node:fs');
appendFileSync('calls', process.argv.slice(2).filter((word) => !/^--(no-fund|no-audit|loglevel)/.test(word)).join(' ') + '\\n');
const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8'));
const withDevelopment = process.argv.includes('--include=dev');
const wanted = Object.entries(packages).filter(([path, { dev, optional }]) => path && !optional && (withDevelopment || !dev));
for (const [path] of wanted) if (!path.endsWith('broken') && !path.includes('@swc')) mkdirSync(path, { recursive: true });
if (process.argv[2] === 'ci') for (const path in packages) {
  if (path.endsWith('tests') && !withDevelopment) rmSync(path, { recursive: true, force: true });
}
writeFileSync('node_modules/.package-lock.json', JSON.stringify({ packages: Object.fromEntries(wanted) }));
`;

/** A checkout in small: its npm writes down that it was called; the transpiler is the real one. */
class Checkout {
  readonly root = mkdtempSync(join(tmpdir(), 'countersign-prepare-'));

  constructor() {
    folders.push(this.root);
    mkdirSync(join(this.root, 'scripts'));
    for (const name of ['prepare.mjs', 'prepare', 'build.mjs']) {
      cpSync(join(checkoutRoot(), 'scripts', name), join(this.root, 'scripts', name), { recursive: true });
    }
    this.write('src/main.ts', "export const first: string = 'first';\n");
    this.write('src/gone.ts', 'export const willGo = true;\n');
    this.write('test/support/helper.ts', 'export const helps: number = 1;\n');
    this.lock({ ...SERVING, ...DEVELOPMENT });
    mkdirSync(join(this.root, 'node_modules', '@swc'), { recursive: true });
    symlinkSync(join(checkoutRoot(), TRANSPILER), join(this.root, TRANSPILER));
    this.write('tools/npm', NPM, 0o755);
  }

  write(path: string, content: string, mode = 0o644): void {
    mkdirSync(dirname(join(this.root, path)), { recursive: true });
    writeFileSync(join(this.root, path), content, { mode });
  }

  read(path: string): string {
    return readFileSync(join(this.root, path), 'utf8');
  }

  lock(packages: Record<string, object>): void {
    const all = { '': {}, [TRANSPILER]: { version: '1.0.0', devOptional: true }, ...packages };
    this.write('package-lock.json', JSON.stringify({ packages: all }));
  }

  /** What was called since the last time, npm by its words, and the exit code. */
  prepare(wanted?: object): { calls: string[]; status: number | null; stderr: string } {
    rmSync(join(this.root, 'calls'), { force: true });
    const script = pathToFileURL(join(this.root, 'scripts', 'prepare.mjs')).href;
    const code = `(await import(${JSON.stringify(script)})).prepareOrExit(${JSON.stringify(wanted)})`;
    const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', code], {
      env: { PATH: `${join(this.root, 'tools')}:${process.env.PATH}` }, encoding: 'utf8', cwd: '/',
    });
    const calls = existsSync(join(this.root, 'calls')) ? this.read('calls').trim().split('\n') : [];
    return { calls: stderr.includes('Building') ? [...calls, 'build'] : calls, status, stderr };
  }
}

const SERVES = 'ci --omit=dev --include=optional';
const EVERYTHING = 'ci --include=dev --include=optional';
const ADDS = 'install --no-save --include=dev --include=optional';

describe('prepare', () => {
  it('installs what serves and builds, once, and says how long each step takes and took', () => {
    const checkout = new Checkout();
    const first = checkout.prepare();
    expect(first).toMatchObject({ calls: [SERVES, 'build'], status: 0 });
    expect(first.stderr.replace(/\d+\.\d s/g, 'n s').split('\n')).toEqual([
      'Installing 2 packages (npm; usually 20 s, on a slow line longer) …', '  done in n s',
      'Building (usually 2 s) …', '  done in n s', '',
    ]);
    expect(checkout.prepare()).toEqual({ calls: [], status: 0, stderr: '' });
  });

  it('writes JavaScript, which names its source, of everything but tests', () => {
    const checkout = new Checkout();
    checkout.write('src/main.test.ts', 'export const tests = true;\n');
    checkout.prepare();
    expect(checkout.read('dist/src/main.js')).toBe("export const first = 'first';\n//# sourceMappingURL=main.js.map\n");
    expect(JSON.parse(checkout.read('dist/src/main.js.map'))).toMatchObject({ version: 3, sources: ['../../src/main.ts'] });
    expect(existsSync(join(checkout.root, 'dist/src/main.test.js'))).toBe(false);
  });

  it('adds what tests need to what serves, and keeps it from then on', () => {
    const checkout = new Checkout();
    checkout.prepare();
    expect(checkout.prepare({ development: true }).calls).toEqual([ADDS]);
    expect(checkout.prepare({ development: true }).calls).toEqual([]);
    expect(checkout.prepare().calls).toEqual([]);
    checkout.lock({ ...DEVELOPMENT, 'node_modules/serves': { version: '1.0.1' } });
    expect(checkout.prepare().calls).toEqual([EVERYTHING, 'build']);
    expect(checkout.prepare({ development: true }).calls).toEqual([]);
  });

  it('installs everything at once for a first run of the tests', () => {
    const checkout = new Checkout();
    expect(checkout.prepare({ development: true }).calls).toEqual([EVERYTHING, 'build']);
    expect(checkout.prepare().calls).toEqual([]);
  });

  it('builds nothing for what runs from source, and the proofs beside the product', () => {
    const checkout = new Checkout();
    expect(checkout.prepare({ development: true, build: false }).calls).toEqual([EVERYTHING]);
    expect(existsSync(join(checkout.root, 'dist/src'))).toBe(false);
    expect(checkout.prepare({ proofs: true }).calls).toEqual(['build']);
    expect(checkout.read('dist/proofs/test/support/helper.js')).toContain('helps = 1');
    expect(existsSync(join(checkout.root, 'dist/proofs/src/main.js'))).toBe(true);
    rmSync(join(checkout.root, 'test/support/helper.ts'));
    checkout.prepare({ proofs: true });
    expect(existsSync(join(checkout.root, 'dist/proofs/test/support/helper.js'))).toBe(false);
  });

  it('asks for the transpiler only where something has to be built', () => {
    const checkout = new Checkout();
    checkout.prepare();
    const { packages } = JSON.parse(checkout.read('node_modules/.package-lock.json')) as { packages: Record<string, object> };
    delete packages[TRANSPILER];
    checkout.write('node_modules/.package-lock.json', JSON.stringify({ packages }));
    expect(checkout.prepare().calls).toEqual([]);
    checkout.write('src/main.ts', 'export const second = 2;\n');
    expect(checkout.prepare().calls).toEqual(['install --no-save --omit=dev --include=optional', 'build']);
  });

  it('builds again when a source differs, not when only its time does', () => {
    const checkout = new Checkout();
    checkout.prepare();
    utimesSync(join(checkout.root, 'src', 'main.ts'), new Date(), new Date());
    expect(checkout.prepare().calls).toEqual([]);
    checkout.write('src/main.ts', 'export const other = 1;\n');
    expect(checkout.prepare().calls).toEqual(['build']);
    checkout.write('migrations/1.ts', 'export const added = 1;\n');
    expect(checkout.prepare().calls).toEqual(['build']);
    checkout.write('src/main.test.ts', 'a test is no part of the build');
    expect(checkout.prepare().calls).toEqual([]);
    rmSync(join(checkout.root, 'dist', 'src', 'main.js'));
    expect(checkout.prepare().calls).toEqual(['build']);
  });

  it('removes outputs whose source is gone', () => {
    const checkout = new Checkout();
    checkout.prepare();
    expect(existsSync(join(checkout.root, 'dist/src/gone.js'))).toBe(true);
    rmSync(join(checkout.root, 'src/gone.ts'));
    expect(checkout.prepare().calls).toEqual(['build']);
    expect(existsSync(join(checkout.root, 'dist/src/gone.js'))).toBe(false);
    expect(existsSync(join(checkout.root, 'dist/src/gone.js.map'))).toBe(false);
  });

  it('does not take a failed build for one, and names the source that is wrong', () => {
    const checkout = new Checkout();
    checkout.write('src/main.ts', 'export const = ;\n');
    expect(checkout.prepare()).toMatchObject({ status: 1, stderr: expect.stringMatching(/^src\/main\.ts: [^]*The build failed; .*\n$/m) });
    expect(checkout.prepare()).toMatchObject({ calls: ['build'], status: 1 });
  });

  it('installs again when the lock file names another version, or a package is gone', () => {
    const checkout = new Checkout();
    checkout.prepare();
    checkout.lock({ ...DEVELOPMENT, 'node_modules/serves': { version: '1.0.1' } });
    expect(checkout.prepare().calls).toEqual([SERVES, 'build']);
    expect(checkout.prepare().calls).toEqual([]);
    checkout.lock({ ...DEVELOPMENT, 'node_modules/serves': { version: '1.0.1' }, 'node_modules/broken': { version: '2.0.0' } });
    expect(checkout.prepare().calls).toEqual([SERVES, 'build']);
    expect(checkout.prepare().calls).toEqual([SERVES]);
    checkout.write('node_modules/broken/package.json', '{}');
    expect(checkout.prepare().calls).toEqual([]);
  });

  it('is not kept waiting by the lock of a process that is gone', () => {
    const checkout = new Checkout();
    const { pid } = spawnSync(process.execPath, ['-e', '']);
    checkout.write('dist/prepare.lock', String(pid));
    expect(checkout.prepare()).toMatchObject({ calls: [SERVES, 'build'], status: 0 });
  });

  it('takes next to no time when there is nothing to do', () => {
    const script = join(checkoutRoot(), 'scripts', 'prepare.mjs');
    const timed = `const { prepare } = await import(${JSON.stringify(script)}); prepare();
      const before = process.cpuUsage(); prepare();
      const { user, system } = process.cpuUsage(before); console.log((user + system) / 1000);`;
    const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', timed], { encoding: 'utf8' });
    expect(stderr).not.toContain('failed');
    expect(stdout).toMatch(/^\d/);
    expect(Number(stdout)).toBeLessThan(100);
  });
});
