// The packages of package-lock.json: which of them are missing in node_modules, and their installation. Plain JavaScript on Node's own
// modules, since it runs in a bare checkout.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The message is for the person at the keyboard; nothing else is shown. */
export class PrepareError extends Error {}

/** What builds. It is an optional dependency, because an image has it for its build alone. */
const TRANSPILER = 'node_modules/@swc/core';

/**
 * Compares the lock file with npm's own record of what it put into node_modules, and looks whether that is still there.
 * @returns {string[]} the paths of the packages that are missing or of another version: of those that serve, and besides, with
 *   `development`, of those that lint and test, and with `build` of the one that builds
 */
export function missingPackages(root, { development = false, build = false } = {}) {
  const wanted = readJson(join(root, 'package-lock.json')).packages;
  const present = record(root);
  return Object.entries(wanted).filter(([path, entry]) => {
    // Optional ones may rightly be missing, for other platforms. Folders of this checkout are linked, and their version is its own.
    if (!path.startsWith('node_modules/') || entry.optional) return false;
    if (entry.link) return !existsSync(join(root, path));
    const isWanted = !isOfDevelopment(entry) || development || (build && path === TRANSPILER);
    return isWanted && differs(path, entry);
  }).map(([path]) => path);

  function differs(path, entry) {
    return present[path]?.version !== entry.version || !existsSync(join(root, path));
  }
}

/**
 * Makes node_modules what the lock file says. Development packages that are there stay, and are added without touching the others where
 * these are right: a server of this checkout may be running.
 */
export function install(root, { development, missing }) {
  const wanted = readJson(join(root, 'package-lock.json')).packages;
  const servingIsRight = missing.every((path) => isOfDevelopment(wanted[path]));
  const hadDevelopment = Object.values(record(root)).some(({ dev }) => dev);
  const command = servingIsRight ? ['install', '--no-save'] : ['ci'];
  // NODE_ENV and the user's settings of npm have no say in what is left out.
  const kinds = [development || hadDevelopment ? '--include=dev' : '--omit=dev', '--include=optional'];
  const quietly = ['--no-fund', '--no-audit', '--loglevel=error'];
  const npm = spawnSync('npm', [...command, ...kinds, ...quietly], { cwd: root, stdio: ['ignore', 2, 2] });
  if (npm.error) throw new PrepareError(`npm could not be run: ${npm.error.message}`);
  if (npm.status !== 0) throw new PrepareError(`npm ${command[0]} failed; its messages are above.`);
}

/** Such as serving can do without: `devOptional` are those that an optional package needs as well. */
const isOfDevelopment = ({ dev, devOptional }) => Boolean(dev ?? devOptional);

function record(root) {
  const file = join(root, 'node_modules', '.package-lock.json');
  return existsSync(file) ? (readJson(file).packages ?? {}) : {};
}

const readJson = (path) => JSON.parse(readFileSync(path, 'utf8'));
