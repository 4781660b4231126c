// What an application's bundler makes of the installed package, by esbuild, which stands in test/peers: minified, for browsers and edge
// workers, which have none of Node's modules.
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { root } from '../prepare.mjs';

/** What is bundled, and how many bytes it may have, compressed by gzip. */
export const BUNDLES = {
  whole: { source: "export * from '@countersign/sdk';", bytesMax: 15_000 },
  gate: { source: "export { Connection, Gate } from '@countersign/sdk';", bytesMax: 9_000 },
};

/** @param {string} project where the package is installed. @returns {Promise<{ code: string, bytes: number }>} */
export async function bundled(project, name) {
  const { build } = createRequire(join(root, 'test', 'peers', 'package.json'))('esbuild');
  const entry = join(project, `${name}.mjs`);
  writeFileSync(entry, BUNDLES[name].source);
  const { outputFiles: [{ text }] } = await build({
    entryPoints: [entry], bundle: true, minify: true, format: 'esm', platform: 'browser', target: 'es2022',
    write: false, logLevel: 'silent',
  });
  return { code: text, bytes: gzipSync(text, { level: 9 }).length };
}
