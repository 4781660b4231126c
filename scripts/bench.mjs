// npm run bench: makes ready what is missing, then measures. `npm run bench -- --help` lists the options.
import { prepareOrExit } from './prepare.mjs';

prepareOrExit();
await import('../dist/bench/main.js');
