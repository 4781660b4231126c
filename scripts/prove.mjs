// npm run prove                                          lists the proofs, and the tests of faults, forgeries and starts
// npm run prove -- <name> [--seed N] [--count N]         a proof at length (the seed makes it repeatable), or one of those tests
// npm run prove -- <name…> --short                       the same, proofs in their short form with a fixed seed
// npm run prove -- all [--short]                         everything, for every night
// npm run prove -- touched [--since <commit>] [--minutes N]
//                                                        in short, those whose subject has changed, as far as the minutes go
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { prepareOrExit } from './prepare.mjs';
import { proveAtLength } from './prove/at-length.mjs';
import { changes } from './prove/changes.mjs';
import { chosenFor } from './prove/choice.mjs';
import { SHORT_FORMS, suiteNamed, suites } from './prove/suites.mjs';
import { runJest } from './test/jest-run.mjs';

process.chdir(join(import.meta.dirname, '..'));
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seed: { type: 'string' }, count: { type: 'string' }, short: { type: 'boolean' }, since: { type: 'string' }, minutes: { type: 'string' },
  },
});
const [word] = positionals;

if (word === undefined) await list();
else if (word === 'touched') process.exitCode = await provedOf(touched());
else process.exitCode = await provedOf(word === 'all' ? suites() : positionals.map(named), { atLength: !values.short });

async function list() {
  for (const { name, title, longCount } of await proofsOf(suites())) process.stdout.write(`${name}  ${title} (${longCount} cases)\n`);
  process.stdout.write('\n');
  for (const { name } of suites().filter(({ isProof }) => !isProof)) process.stdout.write(`${name}\n`);
}

/** In one run of Jest, proofs too unless they go to length. @returns the exit code */
async function provedOf(chosen, { atLength = false } = {}) {
  const proofs = chosen.filter(({ isProof }) => isProof);
  const tests = chosen.filter(({ isProof }) => !isProof).map(({ file }) => file);
  if (!atLength) return inJest([...tests, ...(proofs.length === 0 ? [] : SHORT_FORMS)], proofs);
  let code = tests.length === 0 ? 0 : await inJest(tests);
  for (const proof of await proofsOf(proofs)) {
    const isProven = await proveAtLength(proof, { seed: whole('seed'), count: whole('count') });
    if (!isProven) code = 1;
  }
  return code;
}

function inJest(files, proofs = []) {
  if (files.length === 0) {
    process.stdout.write('0 passed, 0 failed\n');
    return 0;
  }
  return runJest({ jestArgs: ['--runTestsByPath', ...files], env: { COUNTERSIGN_PROOFS: proofs.map(({ name }) => name).join(',') } });
}

function touched() {
  const change = changes(values.since);
  if (change === undefined) process.stdout.write('No history to compare with: everything counts as touched.\n');
  else process.stdout.write(`Since ${change.since}: ${change.files.length} files are touched.\n`);
  const { chosen, left } = chosenFor(change?.files, whole('minutes'));
  for (const { suite, why } of chosen) process.stdout.write(`chosen: ${suite.name} (${why})\n`);
  for (const { suite, why } of left) process.stdout.write(`left to the night: ${suite.name} (${why})\n`);
  process.stdout.write(`${chosen.length} chosen, ${left.length} left to the night, of ${suites().length}\n`);
  return chosen.map(({ suite }) => suite);
}

async function proofsOf(some) {
  prepareOrExit({ proofs: true });
  const built = ({ file }) => pathToFileURL(join('dist/proofs', file.replace(/\.ts$/, '.js'))).href;
  return Promise.all(some.filter(({ isProof }) => isProof).map(async (suite) => (await import(built(suite))).proof));
}

function named(name) {
  return suiteNamed(name) ?? fail(`nothing is named ${name}; npm run prove lists what there is`);
}

function whole(option) {
  const text = values[option];
  if (text === undefined) return undefined;
  const number = Number(text);
  return Number.isSafeInteger(number) && number >= 1 ? number : fail(`--${option} takes a whole number from 1`);
}

function fail(message) {
  process.stderr.write(`prove: ${message}\n`);
  process.exit(2);
}
