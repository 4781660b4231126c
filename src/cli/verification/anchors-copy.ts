import { realpathSync, statSync } from 'node:fs';
import { isAbsolute, join, relative, resolve } from 'node:path';
import { Option } from 'commander';
import { checkoutRoot } from '../../platform/config/checkout-root.js';
import { loadConfig } from '../../platform/config/config.js';
import { UsageError } from '../command-output.js';
import { anchorEnvironment } from './verify-options.js';

const FOLDER = 'file:';

/** `--anchors-copy`: a rehearsal beside an installation that goes on. */
export function anchorsCopyOption(): Option {
  return new Option('--anchors-copy <folder>', 'for a rehearsal on a restored copy: this copy of the anchors takes the place of '
    + 'AUDIT_ANCHORS, of which nothing is asked or written');
}

/**
 * The environment of a rehearsal: of the anchors it knows the copy alone. Without one it is as it was.
 *
 * @throws UsageError where the folder is none, or is one that AUDIT_ANCHORS names, or lies in or around one
 */
export function withAnchorsCopy(env: NodeJS.ProcessEnv, copy: string | undefined): NodeJS.ProcessEnv {
  if (copy === undefined) return env;
  const folder = folderAt(resolve(copy));
  if (folder === undefined) throw new UsageError(`--anchors-copy ${copy} is no folder: copy that of AUDIT_ANCHORS there first (cp -a)`);
  for (const name of loadConfig(anchorEnvironment(env)).auditAnchors.filter((one) => one.startsWith(FOLDER))) {
    const original = folderAt(resolve(checkoutRoot(), name.slice(FOLDER.length)));
    if (original !== undefined && (isWithin(original, folder) || isWithin(folder, original))) {
      throw new UsageError(`--anchors-copy ${copy} is no copy: it is where AUDIT_ANCHORS keeps its checkpoints (${name})`);
    }
  }
  return { ...env, AUDIT_ANCHORS: `${FOLDER}${folder}` };
}

/** Where a rehearsal remembers checkpoints: what the installation's own verification remembers must not hang on it. */
export function rehearsalMemory(copy: string): string {
  return join(resolve(copy), 'remembered.json');
}

/** By its real path; undefined where there is no folder. */
function folderAt(path: string): string | undefined {
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) return undefined;
  return realpathSync(path);
}

function isWithin(outer: string, inner: string): boolean {
  const way = relative(outer, inner);
  return way === '' || (!isAbsolute(way) && way.split('/')[0] !== '..');
}
