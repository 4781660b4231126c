// node scripts/prepare/transpile.mjs <checkout> <output folder> <folder> …
// Writes the JavaScript of each source below the folders, with its source map, to the same place below the output folder. Looks at no
// types: `npm run typecheck` does. In a process of its own, so that the server does not carry the transpiler.
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import process from 'node:process';
import swc from '@swc/core';
import { SWC_OPTIONS } from './swc-options.mjs';

const [root, outDir, ...folders] = process.argv.slice(2);

const sources = folders.filter((folder) => existsSync(join(root, folder))).flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !/\.(test|d)\.ts$|(^|[/\\])node_modules[/\\]/.test(name)).map((name) => join(folder, name)));
await Promise.all(sources.map(transpile));

async function transpile(source) {
  const output = join(root, outDir, source.replace(/\.ts$/, '.js'));
  try {
    const { code, map } = await swc.transformFile(join(root, source), {
      ...SWC_OPTIONS, swcrc: false, configFile: false,
      sourceMaps: true, inlineSourcesContent: false, sourceFileName: relative(dirname(output), join(root, source)),
    });
    mkdirSync(dirname(output), { recursive: true });
    writeIfOther(`${output}.map`, map);
    writeIfOther(output, `${code}//# sourceMappingURL=${basename(output)}.map\n`);
  } catch (error) {
    process.stderr.write(`${source}: ${error.message}\n`);
    process.exitCode = 1;
  }
}

/** A process that reads the same output meanwhile never finds half of a file that did not change. */
function writeIfOther(path, content) {
  if (!existsSync(path) || readFileSync(path, 'utf8') !== content) writeFileSync(path, content);
}
