// npm run lint [-- --only style,layers,structure] [--root <folder>] [--fix]
// Style (ESLint, and oxlint for what needs types), layers (dependency-cruiser), structure (checks of our own on the syntax tree).
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { prepareOrExit } from './prepare.mjs';

prepareOrExit({ development: true, build: false });
const { CHECKS } = await import('./lint/checks.mjs');

const { values } = parseArgs({
  options: {
    root: { type: 'string', default: '.' },
    only: { type: 'string', default: Object.keys(CHECKS).join(',') },
    fix: { type: 'boolean', default: false },
  },
});
const root = resolve(values.root);
const wanted = values.only.split(',');
const unknown = wanted.filter((name) => !(name in CHECKS));
if (unknown.length > 0) {
  process.stderr.write(`lint: no check named ${unknown.join(', ')}; there are ${Object.keys(CHECKS).join(', ')}\n`);
  process.exit(2);
}

let failures = 0;
for (const name of wanted) {
  const began = performance.now();
  const findings = await CHECKS[name](root, { fix: values.fix });
  failures += findings.length;
  for (const { path, line, rule, message } of findings) process.stdout.write(`${path}:${line}  ${rule}  ${message}\n`);
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  process.stdout.write(`${name}: ${findings.length === 0 ? 'clean' : `${findings.length} findings`} (${seconds} s)\n`);
}
process.exitCode = failures === 0 ? 0 : 1;
