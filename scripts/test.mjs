// npm test [-- --unit] [-- <what Jest takes: paths, -t name, …>]
// Every test but those of `npm run prove` and `npm run installed`: they run where their path is named.
import { join } from 'node:path';
import { runJest } from './test/jest-run.mjs';
import { PROVED } from './prove/suites.mjs';

/** Folders of tests that take too long, or programs of Debian's. */
const ELSEWHERE = [...PROVED, 'test/installed'];

process.chdir(join(import.meta.dirname, '..'));
const argv = process.argv.slice(2);
const unit = argv.includes('--unit');
const given = argv.filter((argument) => argument !== '--unit');
const namesElsewhere = given.some((argument) => ELSEWHERE.some((folder) => argument.includes(folder)));

process.exitCode = await runJest({ jestArgs: given, leftOut: unit || namesElsewhere ? [] : ELSEWHERE, unit });
