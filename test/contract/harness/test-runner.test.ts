import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { CHECKOUT } from '../../support/servers/test-run.js';

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

function runTests(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ended> {
  const command = [join(CHECKOUT, 'scripts/test.mjs'), ...args];
  return new Promise((resolve) => {
    execFile(process.execPath, command, { env: { PATH: process.env.PATH, ...env } }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr });
    });
  });
}

test('a database whose name does not say "test" is refused before anything happens to it', async () => {
  const url = 'postgres://someone:pw@127.0.0.1:1/countersign';
  const ended = await runTests([], { TEST_DATABASE_URL: url });
  expect(ended).toMatchObject({ code: 1, stdout: '0 passed, 1 failed\n' });
  expect(ended.stderr).toContain('its name must contain "test"');
});

test('the closing line counts a failed test and a file that cannot be loaded, and the exit code follows it', async () => {
  const folder = mkdtempSync(join(process.env.COUNTERSIGN_TEST_RUN ?? tmpdir(), 'runner-'));
  try {
    writeFileSync(join(folder, 'jest.config.json'), JSON.stringify({ rootDir: folder, transform: {} }));
    writeFileSync(join(folder, 'good.test.js'), `test('a', () => undefined);\ntest('b', () => undefined);\n`);
    writeFileSync(join(folder, 'bad.test.js'), `test('c', () => { throw new Error('wrong'); });\n`);
    writeFileSync(join(folder, 'broken.test.js'), `require('./nowhere.js');\n`);
    const config = ['--config', join(folder, 'jest.config.json'), '--roots', folder];
    const ended = await runTests(['--unit', folder, ...config]);
    expect(ended).toMatchObject({ code: 1, stdout: '2 passed, 2 failed\n' });
    // And both are named, after all else that was said.
    expect(ended.stderr.trim().split('\n').slice(-2).sort()).toEqual([
      expect.stringMatching(/^failed: .*bad\.test\.js › c$/),
      expect.stringMatching(/^failed: .*broken\.test\.js \(it could not be run\)$/),
    ]);
    const good = await runTests(['--unit', join(folder, 'good'), ...config]);
    expect(good).toMatchObject({ code: 0, stdout: '2 passed, 0 failed\n' });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test('every file that is said to take long is there', () => {
  const text = readFileSync(join(CHECKOUT, 'scripts/test/longest-first.mjs'), 'utf8');
  const files = [...text.matchAll(/'((?:src|test)\/[^']+\.test\.ts)': \d+,/g)].map(([, file]) => file!);
  expect(files.length).toBeGreaterThan(10);
  expect(files.filter((file) => !existsSync(join(CHECKOUT, file)))).toEqual([]);
});
