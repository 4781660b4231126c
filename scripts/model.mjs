// npm run model [-- --touched]: checks the protocol (model/*.pml) exhaustively with spin, then takes out one guard after the other and
// requires that the model notices. docs/protocol.md explains both. Ends with 0 when all is as it should be, 1 when not, 2 without the
// tools. With --touched it searches only where a change touches the models or this file: nothing else could come out otherwise.
import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { changes } from './prove/changes.mjs';

const MODELS = join(import.meta.dirname, '..', 'model');
const SECONDS = 120;
const MEGABYTES = 2_000;

/** Whole searches: every claim that is an assertion, deadlocks included; and that it ends, which is searched for endless runs. */
const WHOLE = [
  { model: 'decide', options: [] },
  { model: 'decide', options: ['COMMANDS=4'], ends: 'every request ends' },
  { model: 'run', options: [] },
  { model: 'run', options: [], ends: 'every approved action ends' },
  { model: 'node', options: [] },
  { model: 'node', options: [], ends: 'every work ends' },
];

/** Guards taken out. `finds`: the number of the claim that then has to break, or `ends`. `holds`: what another guard still holds. */
const MUTATIONS = [
  { model: 'decide', without: ['NO_HEAD_LOCK'], finds: 5 },
  { model: 'decide', without: ['NO_HEAD_LOCK'], finds: 6 },
  { model: 'decide', without: ['NO_HEAD_LOCK'], finds: 7 },
  { model: 'decide', without: ['NO_HEAD_LOCK'], finds: 9 },
  { model: 'decide', without: ['NO_HEAD_LOCK', 'NO_CAS'], finds: 1 },
  { model: 'decide', without: ['NO_HEAD_LOCK', 'NO_CAS'], finds: 4 },
  { model: 'decide', without: ['NO_CLOCK'], finds: 2 },
  { model: 'decide', without: ['NO_RANK'], finds: 3 },
  { model: 'decide', without: ['NO_VERSION'], finds: 4 },
  { model: 'decide', without: ['NO_ASKING'], finds: 6 },
  { model: 'decide', without: ['NO_MILDER'], finds: 8 },
  { model: 'decide', without: ['NO_EXPIRY'], finds: 'ends' },
  { model: 'run', without: ['NO_HEAD_LOCK'], finds: 3 },
  { model: 'run', without: ['NO_HEAD_LOCK', 'NO_EXEC_CAS'], finds: 1 },
  { model: 'run', without: ['NO_HEAD_LOCK', 'NO_EXEC_CAS'], finds: 6 },
  { model: 'run', without: ['NO_HEAD_LOCK', 'NO_EXEC_CAS'], finds: 7 },
  { model: 'run', without: ['NO_FENCE'], finds: 4 },
  { model: 'run', without: ['NO_LEASE'], finds: 5 },
  { model: 'run', without: ['NO_ASKING'], finds: 3 },
  { model: 'run', without: ['NO_KEY'], finds: 1 },
  { model: 'run', without: ['ALWAYS_RETRY'], finds: 1 },
  { model: 'run', without: ['NO_STATUS', 'EARLY_ROW'], finds: 2 },
  { model: 'run', without: ['EARLY_ROW'], finds: 'ends' },
  { model: 'run', without: ['NO_OUTBOX'], finds: 'ends' },
  { model: 'run', without: ['NO_RECOVERY'], finds: 'ends' },
  { model: 'node', without: ['NO_HEAD_LOCK'], finds: 3 },
  { model: 'node', without: ['NO_ROW_LOCK'], finds: 7 },
  { model: 'node', without: ['NO_ROW_LOCK', 'NO_HEAD_LOCK'], finds: 4 },
  { model: 'node', without: ['NO_ROW_LOCK', 'NO_START_CAS'], finds: 2 },
  { model: 'node', without: ['NO_WITHDRAW_CAS'], finds: 2 },
  { model: 'node', without: ['NO_FENCE'], finds: 4 },
  { model: 'node', without: ['NO_ASKING'], finds: 3 },
  { model: 'node', without: ['TWO_COMMITS'], finds: 6 },
  { model: 'node', without: ['ALWAYS_RETRY'], finds: 1 },
  { model: 'node', without: ['FORGETFUL'], finds: 7 },
  { model: 'node', without: ['ANY_BEGINNING'], finds: 2 },
  { model: 'node', without: ['NO_RECOVERY'], finds: 'ends' },
  // One of two that back each other up: nothing is found, and this says so.
  { model: 'decide', without: ['NO_CAS'], holds: 'all' },
  { model: 'decide', without: ['NO_HEAD_LOCK'], holds: 1, options: ['COMMANDS=2'] },
  { model: 'run', without: ['NO_EXEC_CAS'], holds: 'all' },
  { model: 'run', without: ['NO_HEAD_LOCK'], holds: 1 },
  { model: 'run', without: ['NO_STATUS'], holds: 'all' },
  { model: 'node', without: ['NO_START_CAS'], holds: 'all' },
];

if (process.argv.includes('--touched')) {
  const change = changes();
  if (change !== undefined && !change.files.some((file) => file.startsWith('model/') || file === 'scripts/model.mjs')) {
    process.stdout.write(`Since ${change.since}: the models are what they were, and so is what is found.\n`);
    process.exit(0);
  }
}

const compiler = ['cc', 'gcc', 'clang'].find((name) => spawnSync(name, ['--version']).status === 0);
if (spawnSync('spin', ['-V']).status !== 0 || compiler === undefined) {
  process.stderr.write('The model needs spin and a C compiler.\nDebian, Ubuntu: apt-get install spin gcc · macOS: brew install spin\n');
  process.exit(2);
}

const folder = mkdtempSync(join(tmpdir(), 'countersign-model-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
for (const [signal, code] of [['SIGINT', 130], ['SIGTERM', 143]]) process.once(signal, () => process.exit(code));

const claims = new Map(['decide', 'run', 'node'].map((model) => [model, claimsOf(model)]));
const began = performance.now();
const jobs = [
  ...WHOLE.map((one) => ({ ...one, whole: true, defines: one.options, live: one.ends !== undefined })),
  ...MUTATIONS.map((one) => ({ ...one, defines: definesOf(one), live: one.finds === 'ends' })),
];
const results = await all(jobs);
report();

function claimsOf(model) {
  const text = readFileSync(join(MODELS, `${model}.pml`), 'utf8');
  return new Map([...text.matchAll(/^\/\* claim (\d+): (.+) \*\/$/gm)].map(([, number, words]) => [Number(number), words]));
}

// Races need two commands and expiry; a third lets an edit or a withdrawal come before. More only takes longer.
function definesOf({ model, without, finds, holds, options }) {
  const only = [finds, holds].find((one) => typeof one === 'number');
  return [...without, ...(options ?? (model === 'decide' ? ['COMMANDS=3'] : [])), ...(only === undefined ? [] : [`ONLY=${only}`])];
}

async function all(list) {
  const done = [];
  const waiting = list.map((job, index) => ({ job, index }));
  const worker = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      done[next.index] = await check(next.job, next.index);
      progress(done.filter(Boolean).length, list.length);
    }
  };
  await Promise.all(Array.from({ length: Math.min(4, availableParallelism()) }, worker));
  return done;
}

function progress(count, of) {
  if (process.stderr.isTTY) process.stderr.write(`\r${count} of ${of} searches${count === of ? '\n' : ''}`);
  else if (count % 10 === 0 || count === of) process.stderr.write(`${count} of ${of} searches\n`);
}

async function check({ model, defines, live, whole, finds }, index) {
  const cwd = mkdtempSync(join(folder, `${index}-`));
  const flags = [...defines, ...(live ? ['LIVENESS'] : [])].map((define) => `-D${define}`);
  await tool('spin', ['-a', ...flags, join(MODELS, `${model}.pml`)], cwd);
  const kind = live ? ['-DNFAIR=4'] : ['-DSAFETY'];
  await tool(compiler, [whole ? '-O2' : '-O1', '-w', `-DMEMLIM=${MEGABYTES}`, ...kind, '-o', 'pan', 'pan.c'], cwd);
  // -a -f: endless runs in which everybody who can always go on does go on; -E: a claim is looked for, not a deadlock.
  const run = live ? ['-a', '-f'] : typeof finds === 'number' ? ['-E'] : [];
  const said = await tool('./pan', ['-m1000000', ...run], cwd);
  rmSync(cwd, { recursive: true, force: true });
  return resultOf(said);
}

function tool(name, args, cwd) {
  return new Promise((resolve, reject) => {
    execFile(name, args, { cwd, timeout: SECONDS * 1000, killSignal: 'SIGKILL', maxBuffer: 64 << 20 }, (error, out, err) => {
      if (error && typeof error.code !== 'number') reject(new Error(`${name} ${args.join(' ')} took more than ${SECONDS} s`));
      else if (error && name !== './pan') reject(new Error(`${name} ${args.join(' ')} failed:\n${out}${err}`));
      else resolve(out + err);
    });
  });
}

/** What a search says: how many states it saw, all of them or not, and what it found. */
function resultOf(said) {
  const states = Number(/^\s*(\d+) states, stored/m.exec(said)?.[1] ?? 0);
  const depth = Number(/\(at depth (\d+)\)/.exec(said)?.[1] ?? 0);
  const claim = /assertion violated\s+!\((\d+)\)/.exec(said)?.[1];
  const found = claim !== undefined ? Number(claim)
    : said.includes('acceptance cycle (at') ? 'ends'
    : said.includes('invalid end state (at') ? 'deadlock'
    : /errors: 0$/m.test(said) ? undefined : 'failure';
  const complete = states > 0 && !/not completed|max search depth too small|out of memory/.test(said);
  // What never happens in the model is not checked by it. An assertion that cannot fail is meant to be out of reach.
  const unreached = [...said.matchAll(/^\t(\S+:\d+), state \d+, "(.*)"$/gm)].filter(([, , what]) => !what.startsWith('assert('));
  return { states, depth, found, complete, unreached: unreached.map(([, where, what]) => `${where} ${what}`) };
}

function report() {
  const lines = [];
  let wrong = 0;
  const row = (ok, ...cells) => {
    if (!ok) wrong++;
    lines.push(`${ok ? 'ok   ' : 'WRONG'}  ${cells.join('  ')}`);
  };
  const counted = (number) => number.toLocaleString('en').padStart(10);
  lines.push('', 'claim → states, all of them → result');
  results.forEach((result, index) => {
    const job = jobs[index];
    if (!job.whole) return;
    const holds = result.found === undefined && result.complete;
    const words = job.ends ? [job.ends] : [...[...claims.get(job.model)].map(([number, text]) => `${number} ${text}`), 'no deadlock'];
    const outcome = holds ? 'holds' : `BROKEN: ${foundIn(job.model, result)}`;
    for (const claim of words) row(holds, job.model.padEnd(6), claim.padEnd(82), counted(result.states), outcome);
    if (job.ends === undefined) {
      row(result.unreached.length === 0, job.model.padEnd(6), 'every step of the model happens'.padEnd(82), counted(result.states),
        result.unreached.length === 0 ? 'holds' : `never: ${result.unreached.join('; ')}`);
    }
  });
  lines.push('', 'guard taken out → what is found');
  results.forEach((result, index) => {
    const job = jobs[index];
    if (job.whole) return;
    const guards = job.without.join(' + ').padEnd(28);
    if (job.finds !== undefined) {
      const words = job.finds === 'ends' ? 'it ends' : `${job.finds} ${claims.get(job.model).get(job.finds)}`;
      const ok = result.found === job.finds;
      row(ok, job.model.padEnd(6), guards, words, ok ? `broken in ${result.depth} steps` : `SURVIVES: ${foundIn(job.model, result)}`);
    } else {
      const ok = result.found === undefined && result.complete;
      const words = job.holds === 'all' ? 'every claim' : `${job.holds} ${claims.get(job.model).get(job.holds)}`;
      row(ok, job.model.padEnd(6), guards, words, ok ? `holds by the other guard (${counted(result.states).trim()} states)`
        : `BROKEN: ${foundIn(job.model, result)}`);
    }
  });
  const seconds = ((performance.now() - began) / 1000).toFixed(0);
  lines.push('', `${results.length} searches, ${wrong} wrong (${seconds} s)`, '');
  process.stdout.write(lines.join('\n'));
  process.exitCode = wrong === 0 ? 0 : 1;
}

function foundIn(model, { found, complete }) {
  if (typeof found === 'number') return `claim ${found}, ${claims.get(model).get(found)}`;
  return found ?? (complete ? 'nothing' : 'the search was not completed');
}
