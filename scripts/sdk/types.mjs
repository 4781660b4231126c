// Compiles test/sdk/types as a user of the package does: against the types in the tarball, checked as strictly as TypeScript can, by the
// TypeScript of test/peers, which is an older one than ours.
import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { root } from '../prepare.mjs';
import { ran } from './pack.mjs';

const COMPILER = join(root, 'test', 'peers', 'node_modules', 'typescript', 'bin', 'tsc');
const OPTIONS = {
  target: 'es2022', lib: ['es2022', 'dom', 'dom.iterable'], types: [], strict: true,
  noUncheckedIndexedAccess: true, noEmit: true, skipLibCheck: false,
};

/** @param {string} project where the package is installed */
export function typesHold(project) {
  cpSync(join(root, 'test', 'sdk', 'types'), join(project, 'types'), { recursive: true });
  for (const [module, moduleResolution] of [['nodenext', 'nodenext'], ['esnext', 'bundler']]) {
    const settings = { compilerOptions: { ...OPTIONS, module, moduleResolution }, include: ['types'] };
    writeFileSync(join(project, 'tsconfig.json'), JSON.stringify(settings));
    ran(process.execPath, [COMPILER, '--project', 'tsconfig.json'], project);
  }
}
