// What must be there before anything of ours runs: the packages of package-lock.json, and a build of these very sources.
// Plain JavaScript on Node's own modules, since it runs in a bare checkout; `npm start`, `npm test` and the CLI share it.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync, mkdirSync, openSync, closeSync, readFileSync, readdirSync, renameSync, rmSync, statSync, writeFileSync, writeSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = join(dirname(fileURLToPath(import.meta.url)), '..');

const VERIFIER = ['verify.mjs', 'pack.mjs', 'page.html', 'page.css', 'page.js'].map((name) => join('verifier', name));
const SOURCES = ['src', 'migrations', 'bench', 'demo', ...VERIFIER, 'tsconfig.json', 'tsconfig.build.json', 'package-lock.json'];
const MAIN = join(root, 'dist', 'src', 'main.js');
const STAMP = join(root, 'dist', 'build-stamp.json');
const LOCK = join(root, 'dist', 'prepare.lock');

/** The message is for the person at the keyboard; nothing else is shown. */
export class PrepareError extends Error {}

/** Installs what is missing and builds what is stale. Cheap when there is nothing to do. */
export function prepare({ say = (line) => process.stderr.write(`${line}\n`) } = {}) {
  checkNode();
  if (!isInstalled() || staleBuild()) locked(say, () => work(say));
}

function work(say) {
  const stale = staleBuild();
  if (!isInstalled()) install(say);
  if (stale) build(say, stale);
}

function checkNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major > 20 || (major === 20 && minor >= 19)) return;
  throw new PrepareError(`Node.js 20.19 or newer is needed; this is ${process.versions.node}.`);
}

/**
 * Compares the lock file with npm's own record of what it put into node_modules, and looks whether that is still there.
 * Where there are sources (not in an image), the tools that build and test them count too.
 */
export function isInstalled({ forBuild = existsSync(join(root, 'src')) } = {}) {
  const record = join(root, 'node_modules', '.package-lock.json');
  if (!existsSync(record)) return false;
  const wanted = readJson(join(root, 'package-lock.json')).packages;
  const present = readJson(record).packages ?? {};
  for (const [path, entry] of Object.entries(wanted)) {
    // Optional ones may rightly be missing (other platforms); linked ones are folders of this checkout.
    if (!path.startsWith('node_modules/') || entry.optional || entry.devOptional || entry.link) continue;
    if (entry.dev && !forBuild) continue;
    if (present[path]?.version !== entry.version || !existsSync(join(root, path))) return false;
  }
  return true;
}

function install(say) {
  say('Installing packages (npm ci) …');
  // The tools that build are development packages, which npm leaves out where NODE_ENV is production.
  const npm = spawnSync('npm', ['ci', '--include=dev', '--include=optional', '--no-fund', '--no-audit', '--loglevel=error'], {
    cwd: root, stdio: ['ignore', 2, 2],
  });
  if (npm.error) throw new PrepareError(`npm could not be run: ${npm.error.message}`);
  if (npm.status !== 0) throw new PrepareError('npm ci failed; its messages are above.');
}

/** The state of the sources to build, or undefined where the build is theirs. */
function staleBuild() {
  if (!existsSync(join(root, 'src'))) {
    if (existsSync(MAIN)) return undefined;
    throw new PrepareError(`Neither sources nor a build in ${root}.`);
  }
  const files = SOURCES.flatMap((name) => listFiles(join(root, name)));
  const glance = digest(files.map(({ path, size, mtimeMs }) => `${path} ${size} ${mtimeMs}`));
  const stamp = existsSync(STAMP) && existsSync(MAIN) ? readJson(STAMP) : {};
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
  if (stat.isDirectory()) return readdirSync(path).sort().flatMap((name) => listFiles(join(path, name)));
  return path.endsWith('.test.ts') ? [] : [{ path: relative(root, path), size: stat.size, mtimeMs: stat.mtimeMs }];
}

/** `state` was read before the compiler ran: a source that changes meanwhile makes the next build. */
function build(say, state) {
  say('Building …');
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  const tsc = spawnSync(process.execPath, [compiler, '-p', 'tsconfig.build.json', '--pretty', 'false'], {
    cwd: root, stdio: ['ignore', 2, 2],
  });
  if (tsc.status !== 0) throw new PrepareError('The build failed; the compiler\'s messages are above.');
  for (const folder of ['src', 'migrations', 'bench', 'demo']) removeOrphans(join(root, 'dist', folder));
  packVerifier();
  writeStamp(state);
}

/** Compiles the proofs, and what they share with tests, beside the product, never into it; the compiler knows by itself what is stale. */
function compileProofs(say = (line) => process.stderr.write(`${line}\n`)) {
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  // One at a time: two would write the same files.
  locked(say, () => {
    const tsc = spawnSync(process.execPath, [compiler, '-p', 'tsconfig.proofs.json', '--pretty', 'false'], {
      cwd: root, stdio: ['ignore', 2, 2],
    });
    if (tsc.status !== 0) throw new PrepareError('The proofs do not compile; the messages are above.');
    removeOrphans(join(root, 'dist', 'proofs'), join(root, 'dist', 'proofs'));
  });
}

/** The stand-alone verifier as one page: dist/verifier.html. */
function packVerifier() {
  const script = join(root, 'verifier', 'pack.mjs');
  if (!existsSync(script)) return;
  const packed = spawnSync(process.execPath, [script], { cwd: root, stdio: ['ignore', 2, 2] });
  if (packed.status !== 0) throw new PrepareError('The verifier could not be packed; the messages are above.');
}

/** Outputs whose source is gone would still be found, a migration for example. */
function removeOrphans(folder, outDir = join(root, 'dist')) {
  if (!existsSync(folder)) return;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) removeOrphans(path, outDir);
    else {
      const source = join(root, relative(outDir, path)).replace(/\.js(\.map)?$/, '.ts');
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

/** Runs the steps of a script and turns what they refuse into a line and an exit code. */
export function prepareOrExit({ proofs = false } = {}) {
  try {
    prepare();
    if (proofs) compileProofs();
  } catch (error) {
    if (!(error instanceof PrepareError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(1);
  }
}
