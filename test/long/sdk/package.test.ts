import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { runProgram } from '../../support/sdk/programs.js';
import { startServer, type TestServer } from '../../support/servers/server.js';
import { CHECKOUT, ROOT_KEY } from '../../support/servers/test-run.js';

// The packed tarball in an empty project, and the programs of its pages there.

interface Packing {
  packSdk(folder: string): string;
  installSdk(tarball: string, project: string): void;
}

let server: TestServer;
let project: string;
beforeAll(async () => {
  server = await startServer();
  project = mkdtempSync(join(tmpdir(), 'countersign-project-'));
  const { packSdk, installSdk } = (await import(pathToFileURL(join(CHECKOUT, 'scripts/sdk/pack.mjs')).href)) as Packing;
  installSdk(packSdk(project), project);
});
afterAll(async () => {
  await server.stop();
  rmSync(project, { recursive: true, force: true });
});

test('packed in place it would have no types: that is refused, or, where npm runs no scripts, has nothing to run either', () => {
  const inPlace = (...more: string[]) =>
    spawnSync('npm', ['pack', '--json', '--dry-run', ...more], { cwd: join(CHECKOUT, 'sdk'), encoding: 'utf8' });
  const { status, stdout, stderr } = inPlace('--no-ignore-scripts');
  expect([status, stdout + stderr]).toEqual([1, expect.stringContaining('npm run sdk')]);
  const [{ files }] = JSON.parse(inPlace().stdout) as [{ files: { path: string }[] }];
  expect(files.map(({ path }) => path).sort()).toEqual(['README.md', 'package.json']);
  const packed = join(project, 'node_modules/@countersign/sdk/dist');
  expect([existsSync(join(packed, 'index.d.ts')), existsSync(join(packed, 'node/run-node.d.ts'))]).toEqual([true, true]);
});

/** The blocks of a page in a language, one after the other. */
const blocks = (page: string, language: string): string =>
  [...page.matchAll(new RegExp(`^\`\`\`${language}\n([^]*?)^\`\`\`$`, 'gm'))].map(([, text]) => text).join('');

const pageAt = (path: string) => readFileSync(join(CHECKOUT, path), 'utf8');

test('brings no other package along', () => {
  const installed = readdirSync(join(project, 'node_modules')).filter((name) => !name.startsWith('.'));
  expect(installed).toEqual(['@countersign']);
  expect(readdirSync(join(project, 'node_modules/@countersign'))).toEqual(['sdk']);
});

test.each(['sdk/README.md', 'docs/sdk.md'])('the program of %s prints what the page says', async (path) => {
  const page = pageAt(path);
  const script = join(project, `${path.replaceAll('/', '-')}.mjs`);
  writeFileSync(script, blocks(page, 'js'));
  const program = runProgram(script, { env: { COUNTERSIGN_URL: server.url, COUNTERSIGN_KEY: ROOT_KEY }, cwd: project });
  const code = await program.ended;
  const wanted = blocks(page, 'text').trimEnd().split('\n').map((line) => expect.stringMatching(patternOf(line)));
  expect({ code, lines: program.said().trimEnd().split('\n') }).toEqual({ code: 0, lines: wanted });
});

/** An ellipsis stands for whatever goes on like that. */
const patternOf = (line: string): RegExp =>
  new RegExp(`^${line.split('…').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('.+')}$`);

test('from an empty project to an approved execution it takes ten lines at most', () => {
  const lines = blocks(pageAt('sdk/README.md'), 'js').split('\n').filter((line) => line.trim() !== '' && !line.startsWith('//'));
  expect(lines.length).toBeLessThanOrEqual(10);
});
