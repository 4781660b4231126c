// npm run sdk [-- --out <folder>]: packs @countersign/sdk, and holds against the tarball what its users count on: the entry points and
// types are found by every way of resolving modules that knows ESM, the types say what does not compile, nothing but the platform is
// needed, and bundles are small. Tools of other people for that stand in test/peers.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { preparePeersOrExit, root } from './prepare.mjs';
import { bundled, BUNDLES } from './sdk/bundle.mjs';
import { installSdk, packSdk, ran } from './sdk/pack.mjs';
import { typesHold } from './sdk/types.mjs';

const PEERS = join(root, 'test', 'peers', 'node_modules');
const { values: { out = join(root, 'dist', 'packages') } } = parseArgs({ options: { out: { type: 'string' } } });

preparePeersOrExit();
mkdirSync(out, { recursive: true });
const project = mkdtempSync(join(tmpdir(), 'countersign-project-'));
try {
  const tarball = await step('the package', () => packSdk(out));
  await step('it is installed in an empty project', () => installSdk(tarball, project));
  await step('it needs nothing of Node', () =>
    ran(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '--project', 'sdk/tsconfig.portable.json'], root));
  await step('publint has nothing to say', () => ran(process.execPath, [join(PEERS, 'publint/src/cli.js'), '--strict', tarball], root));
  await step('its types are found', () =>
    ran(process.execPath, [join(PEERS, '@arethetypeswrong/cli/dist/index.js'), tarball, '--profile', 'esm-only', '--no-emoji'], root));
  await step('its types say what does not compile', () => typesHold(project));
  for (const [name, { bytesMax }] of Object.entries(BUNDLES)) {
    const { bytes } = await step(`the bundle ${name}`, () => bundled(project, name));
    if (bytes > bytesMax) throw new Error(`The bundle ${name} has ${bytes} bytes by gzip; ${bytesMax} are the most.`);
    console.log(`    ${bytes} bytes by gzip, of ${bytesMax}`);
  }
  console.log(tarball);
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
} finally {
  rmSync(project, { recursive: true, force: true });
}

async function step(name, action) {
  const began = performance.now();
  const seconds = () => ((performance.now() - began) / 1_000).toFixed(1);
  try {
    const made = await action();
    console.log(`ok: ${name} (${seconds()} s)`);
    return made;
  } catch (error) {
    console.log(`FAILED: ${name} (${seconds()} s)`);
    throw error;
  }
}
