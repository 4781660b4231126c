// npm run bench: makes ready what is missing, then measures. `npm run bench -- --help` lists the options.
// `npm run bench -- wake`: how soon those who wait learn of a decision.
import { prepareOrExit } from './prepare.mjs';

prepareOrExit({ development: true });
await import(process.argv[2] === 'wake' ? '../dist/bench/wake.js' : '../dist/bench/main.js');
