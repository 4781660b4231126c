// Packs the verifier into one HTML file that needs no network: node verifier/pack.mjs [<file>], by default dist/verifier.html.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';

const here = import.meta.dirname;
const read = (name) => readFileSync(join(here, name), 'utf8');
const hashOf = (text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

export const OUTPUT = join(here, '..', 'dist', 'verifier.html');

/** The page's own script and style run by their hashes; the verifier's text runs as a worker made of it. Nothing is fetched. */
export function packedPage() {
  const [style, script] = [read('page.css'), read('page.js')];
  const allowed = `script-src ${hashOf(script)}; worker-src blob:; style-src ${hashOf(style)}`;
  const policy = `default-src 'none'; ${allowed}; base-uri 'none'; form-action 'none'`;
  const parts = { policy, style, script, verifier: read('verify.mjs') };
  if (/<\/script|<!--/i.test(script + parts.verifier)) throw new Error('a text that would end its script element');
  return read('page.html').replace(/\{\{(\w+)\}\}/g, (_, name) => parts[name]);
}

export function pack(output = OUTPUT) {
  mkdirSync(dirname(output), { recursive: true });
  writeFileSync(`${output}.${process.pid}`, packedPage());
  renameSync(`${output}.${process.pid}`, output);
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) pack(process.argv[2]);
