// What must be there before anything of ours runs: the packages of package-lock.json, and a build of these very sources.
// Plain JavaScript on Node's own modules, since it runs in a bare checkout; `npm start`, `npm test` and the CLI share it.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync, mkdirSync, openSync, closeSync, readFileSync, readdirSync, renameSync, rmSync, statSync, writeFileSync, writeSync,
} from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { install, missingPackages, PrepareError } from './prepare/packages.mjs';

export { PrepareError };
export const root = join(dirname(fileURLToPath(import.meta.url)), '..');

const FOLDERS = ['src', 'migrations', 'bench', 'demo'];
const VERIFIER = ['verify.mjs', 'pack.mjs', 'page.html', 'page.css', 'page.js'].map((name) => join('verifier', name));
const TRANSPILER = ['transpile.mjs', 'swc-options.mjs'].map((name) => join('scripts', 'prepare', name));
/** The client library, a workspace: its build stands in it, where its package.json points. */
const SDK = 'sdk';
const SOURCES = [...FOLDERS, join(SDK, 'src'), ...VERIFIER, ...TRANSPILER, 'package-lock.json'];
const MAIN = join(root, 'dist', 'src', 'main.js');
const SDK_MAIN = join(root, SDK, 'dist', 'index.js');
const STAMP = join(root, 'dist', 'build-stamp.json');
const LOCK = join(root, 'dist', 'prepare.lock');

const sayOnStderr = (line) => process.stderr.write(`${line}\n`);

/**
 * Installs what is missing and builds what is stale. Cheap when there is nothing to do.
 * @param {{ development?: boolean, build?: boolean, say?: (line: string) => void }} wanted `development`: with the packages that lint,
 *   type-check and test; without `build` only the packages
 * @returns {boolean} whether there was something to do
 */
export function prepare({ development = false, build = true, say = sayOnStderr } = {}) {
  checkNode();
  const state = () => {
    const stale = build ? staleBuild() : undefined;
    return { stale, missing: missingPackages(root, { development, build: stale !== undefined }) };
  };
  const isReady = ({ stale, missing }) => stale === undefined && missing.length === 0;
  if (isReady(state())) return false;
  // What another process did meanwhile is not done again.
  locked(say, () => {
    const { stale, missing } = state();
    if (missing.length > 0) {
      step(say, `Installing ${missing.length} packages (npm; usually ${missing.length > 300 ? 60 : 20} s, on a slow line longer)`,
        () => install(root, { development, missing }));
    }
    if (stale) step(say, 'Building (usually 2 s)', () => buildFrom(stale));
  });
  return true;
}

/** A line when a step begins, since it takes a while, and one when it is done. npm shows its own progress on a terminal. */
function step(say, what, action) {
  say(`${what} …`);
  const began = performance.now();
  action();
  say(`  done in ${((performance.now() - began) / 1000).toFixed(1)} s`);
}

function checkNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major > 20 || (major === 20 && minor >= 19)) return;
  throw new PrepareError(`Node.js 20.19 or newer is needed; this is ${process.versions.node}.`);
}

/** The state of the sources to build, or undefined where the build is theirs. */
function staleBuild() {
  if (!existsSync(join(root, 'src'))) {
    if (existsSync(MAIN)) return undefined;
    throw new PrepareError(`Neither sources nor a build in ${root}.`);
  }
  const files = SOURCES.flatMap((name) => listFiles(join(root, name)));
  const glance = digest(files.map(({ path, size, mtimeMs }) => `${path} ${size} ${mtimeMs}`));
  const isThere = existsSync(STAMP) && existsSync(MAIN) && (existsSync(SDK_MAIN) || !existsSync(join(root, SDK, 'src')));
  const stamp = isThere ? readJson(STAMP) : {};
  if (stamp.glance === glance) return undefined;
  // Times differ after a checkout or a copy, too: only other contents make another build.
  const contents = digest(files.map(({ path }) => `${path} ${digest([readFileSync(join(root, path))])}`));
  if (stamp.contents !== contents) return { glance, contents };
  try {
    writeStamp({ glance, contents });
  } catch {
    // A read-only installation looks at the contents each time.
  }
  return undefined;
}

function listFiles(path) {
  if (!existsSync(path)) return [];
  const stat = statSync(path);
  // Packages of its own has bench/peers.
  if (basename(path) === 'node_modules') return [];
  if (stat.isDirectory()) return readdirSync(path).sort().flatMap((name) => listFiles(join(path, name)));
  return path.endsWith('.test.ts') ? [] : [{ path: relative(root, path), size: stat.size, mtimeMs: stat.mtimeMs }];
}

/** `state` was read before the transpiler ran: a source that changes meanwhile makes the next build. */
function buildFrom(state) {
  transpile(root, 'dist', FOLDERS);
  for (const folder of FOLDERS) removeOrphans(join(root, 'dist', folder));
  buildSdk();
  packVerifier();
  writeStamp(state);
}

/** Its JavaScript alone: types are made where it is packed (npm run sdk), and checked from its sources here. */
function buildSdk() {
  const sources = join(root, SDK, 'src');
  if (!existsSync(sources)) return;
  transpile(sources, join('..', 'dist'), ['.']);
  removeOrphans(join(root, SDK, 'dist'), join(root, SDK, 'dist'), sources);
}

/** The proofs, and what they share with tests, beside the product, never into it. */
function buildProofs(say) {
  // One at a time: two would write the same files.
  locked(say, () => {
    transpile(root, join('dist', 'proofs'), [join('test', 'proofs'), join('test', 'support'), ...FOLDERS]);
    removeOrphans(join(root, 'dist', 'proofs'), join(root, 'dist', 'proofs'));
  });
}

function transpile(from, outDir, folders) {
  const script = join(root, 'scripts', 'prepare', 'transpile.mjs');
  const done = spawnSync(process.execPath, [script, from, outDir, ...folders], { stdio: ['ignore', 2, 2] });
  if (done.status !== 0) throw new PrepareError('The build failed; the transpiler\'s messages are above.');
}

/** The stand-alone verifier as one page: dist/verifier.html. */
function packVerifier() {
  const script = join(root, 'verifier', 'pack.mjs');
  if (!existsSync(script)) return;
  const packed = spawnSync(process.execPath, [script], { cwd: root, stdio: ['ignore', 2, 2] });
  if (packed.status !== 0) throw new PrepareError('The verifier could not be packed; the messages are above.');
}

/** Outputs whose source is gone would still be found, a migration for example. */
function removeOrphans(folder, outDir = join(root, 'dist'), sources = root) {
  if (!existsSync(folder)) return;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) removeOrphans(path, outDir, sources);
    else {
      const source = join(sources, relative(outDir, path)).replace(/\.js(\.map)?$/, '.ts');
      if (/\.js(\.map)?$/.test(path) && !existsSync(source)) rmSync(path);
    }
  }
}

function writeStamp(stamp) {
  writeFileSync(`${STAMP}.${process.pid}`, JSON.stringify(stamp));
  renameSync(`${STAMP}.${process.pid}`, STAMP);
}

/** Two starts at once in a fresh checkout: the second waits for the first, then finds everything done. */
function locked(say, action) {
  mkdirSync(dirname(LOCK), { recursive: true });
  for (let waited = 0; !takeLock(); waited += 1) {
    if (waited === 0) say('Waiting for another process that installs or builds here …');
    if (waited > 3000) throw new PrepareError(`Another process holds ${LOCK}; remove it if there is none.`);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
  }
  const release = () => rmSync(LOCK, { force: true });
  process.once('exit', release);
  try {
    action();
  } finally {
    release();
    process.off('exit', release);
  }
}

function takeLock() {
  try {
    const file = openSync(LOCK, 'wx');
    writeSync(file, String(process.pid));
    closeSync(file);
    return true;
  } catch (error) {
    if (error.code !== 'EEXIST') throw new PrepareError(`${dirname(LOCK)} cannot be written: ${error.code}`);
    if (isAbandoned()) rmSync(LOCK, { force: true });
    return false;
  }
}

function isAbandoned() {
  try {
    const pid = Number(readFileSync(LOCK, 'utf8'));
    if (pid === 0) return Date.now() - statSync(LOCK).mtimeMs > 5000;
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return error.code === 'ESRCH';
  }
}

const readJson = (path) => JSON.parse(readFileSync(path, 'utf8'));

function digest(parts) {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part).update('\n');
  return hash.digest('hex');
}

/** The packages of test/peers, which stand beside those of the checkout: other people's tools, for what only CI runs. */
export function preparePeersOrExit() {
  const peers = join(root, 'test', 'peers');
  orExit(() => {
    if (missingPackages(peers).length === 0) return;
    locked(sayOnStderr, () => {
      const missing = missingPackages(peers);
      if (missing.length === 0) return;
      step(sayOnStderr, `Installing ${missing.length} packages into test/peers`, () => install(peers, { development: true, missing }));
    });
  });
}

/**
 * As `prepare`, and turns what is refused into a line and an exit code.
 * @param {{ development?: boolean, build?: boolean, proofs?: boolean }} wanted `proofs`: those built, too
 */
export function prepareOrExit({ proofs = false, development = proofs, build = true } = {}) {
  return orExit(() => {
    const hadToDo = prepare({ development, build });
    if (proofs) buildProofs(sayOnStderr);
    return hadToDo;
  });
}

function orExit(action) {
  try {
    return action();
  } catch (error) {
    if (!(error instanceof PrepareError)) throw error;
    process.stderr.write(`${error.message}\n`);
    return process.exit(1);
  }
}
