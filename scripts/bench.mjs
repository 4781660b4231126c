// npm run bench: makes ready what is missing, then measures. `npm run bench -- --help` lists the options.
// `npm run bench -- wake`: how soon those who wait learn of a decision. `npm run bench -- found`: what the scan for personal data finds.
import { join } from 'node:path';
import { prepareOrExit, root } from './prepare.mjs';
import { install, missingPackages } from './prepare/packages.mjs';

const PEERS = join(root, 'bench', 'peers');
const ALONE = { wake: '../dist/bench/wake.js', found: '../dist/bench/pii/found.js' };

prepareOrExit({ development: true });
if (process.argv.slice(2).join().split(/[,=]/).some((word) => word === 'pii' || word === 'found' || word === 'llm')) {
  const missing = missingPackages(PEERS);
  if (missing.length > 0) {
    console.error(`Installing ${missing.length} packages into bench/peers …`);
    install(PEERS, { development: true, missing });
  }
}
await import(ALONE[process.argv[2]] ?? '../dist/bench/main.js');
