// The package of the SDK as it would be published: JavaScript with its maps, types, sources, page and licence. It is put together in a
// folder of its own, so that nothing of an earlier build comes along.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { prepareOrExit, root } from '../prepare.mjs';

const SDK = join(root, 'sdk');
const COMPILER = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
/** Of users: a folder of a project that has nothing yet, and packages from no registry. */
const INSTALL = ['install', '--offline', '--no-audit', '--no-fund', '--loglevel=error'];

/** @param {string} folder into which it is written. @returns the path of the tarball */
export function packSdk(folder) {
  prepareOrExit({ development: true });
  const staged = mkdtempSync(join(tmpdir(), 'countersign-sdk-'));
  try {
    for (const name of ['README.md', 'src', 'dist']) cpSync(join(SDK, name), join(staged, name), { recursive: true });
    // In place it names no files and refuses to be packed: its build has no types.
    const { scripts: _, ...about } = JSON.parse(readFileSync(join(SDK, 'package.json'), 'utf8'));
    writeFileSync(join(staged, 'package.json'), `${JSON.stringify({ ...about, files: ['dist', 'src'] }, null, 2)}\n`);
    cpSync(join(root, 'LICENSE'), join(staged, 'LICENSE'));
    ran(process.execPath, [COMPILER, '--project', join(SDK, 'tsconfig.json'), '--outDir', join(staged, 'dist')], SDK);
    const [{ filename }] = JSON.parse(ran('npm', ['pack', '--json', '--pack-destination', folder], staged));
    return join(folder, filename);
  } finally {
    rmSync(staged, { recursive: true, force: true });
  }
}

/** Installs it where nothing is yet. */
export function installSdk(tarball, project) {
  writeFileSync(join(project, 'package.json'), '{"private": true, "type": "module"}\n');
  ran('npm', [...INSTALL, tarball], project);
}

export const versionOf = () => JSON.parse(readFileSync(join(SDK, 'package.json'), 'utf8')).version;

/** @throws Error with what it said, unless it ended well. @returns its output */
export function ran(command, args, cwd) {
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
  if (error) throw error;
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${status}:\n${stdout}${stderr}`);
  return stdout;
}
