// npm run typecheck: TypeScript's compiler over everything, tests included. It writes nothing: what is served and tested is transpiled,
// and no types are looked at then (docs/decisions/0036).
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { prepareOrExit, root } from './prepare.mjs';

prepareOrExit({ development: true, build: false });
const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
const { status } = spawnSync(process.execPath, [compiler, '-p', 'tsconfig.json', '--noEmit'], { cwd: root, stdio: 'inherit' });
process.exitCode = status ?? 1;
