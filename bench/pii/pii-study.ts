// How fast the scan for personal data is beside other people's, and on texts that were made to slow it down.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { scanText } from '../../src/domain/pii/scan-text.js';
import { Redactor } from '../../src/domain/pii/redactor.js';
import { piiSettings } from '../../src/domain/pii/settings.js';
import { PiiScanner } from '../../src/modules/llm/scan/pii-scanner.service.js';
import { median } from '../measure.js';
import { cell, table } from '../report.js';
import type { Study } from '../study.js';
import { corpus } from './corpus.js';
import { HOSTILE_SHAPES } from './hostile-texts.js';
import { loadPeers } from './peers.js';

const PROMPT = 2 * 1024;
const KIB = 1024;
/** Of the speed of each side; a peer that needs minutes for it is given a part. */
const SAMPLE_MS = 150;
const SIZES = [64, 128, 256, 512, 1024, 2048, 4096].map((size) => size * KIB);
/** Below it a clock tells little of a doubling. */
const TOLD_FROM_MS = 2;
const LOOP_SIZES = [16 * KIB, 64 * KIB, 256 * KIB];

type Side = readonly [name: string, redact: (text: string) => Promise<unknown>];

export const piiStudy: Study = {
  key: 'pii',
  onlyWhenNamed: true,
  run: async ({ options, progress }) => {
    const peers = loadPeers();
    const sides: Side[] = [['Countersign', redactOurs], ...peers.flatMap(({ name, redact, redactShared }): Side[] =>
      [[name, redact], [`${name}, our types alone`, redactShared]])];
    const texts = { 'prompts of 2 KB': prompts(), 'the corpus, a value in 60 characters': [corpusText().slice(0, PROMPT * 8)] };
    progress.begin('The scan beside others', Object.keys(texts).length * options.pairs);
    const speeds: Record<string, Record<string, readonly number[]>> = {};
    for (const [name, some] of Object.entries(texts)) speeds[name] = await speedsOf(sides, some, options.pairs, () => progress.step());
    progress.begin('Hostile texts', Object.keys(HOSTILE_SHAPES).length);
    const hostile = Object.entries(HOSTILE_SHAPES).map(([shape, text]) => {
      const found = doublings(text);
      progress.step();
      return { shape, ...found };
    });
    progress.begin('The event loop', Object.keys(HOSTILE_SHAPES).length);
    const held = await loopHeld(() => progress.step());
    return { text: textOf(speeds, hostile, held), values: { figure: 'pii', speeds, hostile, held } };
  },
};

function redactOurs(text: string): Promise<string> {
  return Promise.resolve(new Redactor('redact').redact(text, scanText(text)));
}

function corpusText(): string {
  return [...corpus('tuned'), ...corpus('held-out')].map(({ text }) => text).join('\n');
}

/** Prose, with a line of the corpus in each: what a model is asked about a customer. */
function prompts(): string[] {
  const prose = ['README.md', 'docs/architecture.md', 'docs/security.md'].map((path) => readFileSync(join(process.cwd(), path),
    'utf8')).join('\n');
  const lines = corpus('tuned').filter(({ spans }) => spans.length > 0);
  return Array.from({ length: 32 }, (_, index) =>
    `${lines[index * 8]!.text}\n${prose.slice(index * PROMPT, (index + 1) * PROMPT)}`.slice(0, PROMPT));
}

/** Megabytes a second, the sides in turn; the first round is thrown away. */
async function speedsOf(sides: readonly Side[], texts: readonly string[], rounds: number, done: () => void): Promise<Record<string,
  number[]>> {
  const speeds: Record<string, number[]> = Object.fromEntries(sides.map(([name]) => [name, []]));
  for (let round = 0; round <= rounds; round++) {
    for (const [name, redact] of round % 2 === 0 ? sides : sides.toReversed()) {
      const begun = performance.now();
      let [characters, ms] = [0, 0];
      for (let next = 0; ms < SAMPLE_MS; next++) {
        const text = texts[next % texts.length]!;
        await redact(text);
        characters += text.length;
        ms = performance.now() - begun;
      }
      if (round > 0) speeds[name]!.push(characters / ms / 1_000);
    }
    if (round > 0) done();
  }
  return speeds;
}

/** The longest time, and the median of what a doubling costs from where the clock can tell. */
function doublings(shape: (length: number) => string): { readonly ratio: number; readonly ms: number } {
  const times = SIZES.map((size) => {
    const text = shape(size);
    const runs = Array.from({ length: size > KIB * KIB ? 1 : 3 }, () => {
      const begun = performance.now();
      scanText(text);
      return performance.now() - begun;
    });
    return Math.min(...runs);
  });
  const ratios = times.slice(1).flatMap((ms, index) => (times[index]! < TOLD_FROM_MS ? [] : [ms / times[index]!]));
  return { ratio: ratios.length === 0 ? 0 : median(ratios), ms: Math.max(...times) };
}

/** The longest that a call held the loop, and the longest of all with nothing to do, in milliseconds. */
async function loopHeld(done: () => void): Promise<{ readonly scanning: number; readonly shape: string; readonly idle: number }> {
  const scanner = new PiiScanner();
  const settings = piiSettings({});
  let worst = { scanning: 0, shape: '' };
  const held = async (what: () => Promise<unknown>) => {
    const delay = monitorEventLoopDelay({ resolution: 1 });
    delay.enable();
    await what();
    await new Promise((resolve) => setTimeout(resolve, 5));
    delay.disable();
    return delay.max / 1e6;
  };
  try {
    for (const round of [0, 1]) {
      for (const [shape, text] of Object.entries(HOSTILE_SHAPES)) {
        for (const size of LOOP_SIZES) {
          const body = JSON.stringify({ messages: [{ role: 'user', content: text(size - 100) }] });
          const ms = await held(() => scanner.scan({ body, family: 'openai', settings }));
          // Code that runs for the first time is compiled.
          if (round > 0 && ms > worst.scanning) worst = { scanning: ms, shape: `${shape}, ${size / KIB} KiB` };
        }
        if (round > 0) done();
      }
    }
    return { ...worst, idle: await held(() => new Promise((resolve) => setTimeout(resolve, 2_000))) };
  } finally {
    await scanner.onModuleDestroy();
  }
}

function textOf(
  speeds: Readonly<Record<string, Readonly<Record<string, readonly number[]>>>>,
  hostile: readonly { readonly shape: string; readonly ratio: number; readonly ms: number }[],
  held: { readonly scanning: number; readonly shape: string; readonly idle: number },
): string {
  const worst = hostile.reduce((one, other) => (other.ratio > one.ratio ? other : one));
  return [
    '',
    ...Object.entries(speeds).flatMap(([name, sides]) => {
      const ours = sides['Countersign']!;
      const rows = Object.entries(sides).map(([side, its]) => [side, cell(median(its), 2), cell(median(its.map((speed, i) =>
        ours[i]! / speed)), 2)]);
      return [`  The scan for personal data, ${name}:`, '', ...table(['', 'MB/s', 'ours ÷ it'], rows, false), ''];
    }),
    `  A doubled hostile text, 64 KiB to 4 MiB, ${hostile.length} shapes: at most ${cell(worst.ratio, 2)} × the time (${worst.shape}).`,
    '',
    ...table(['shape', 'doubled', '4 MiB, ms'], hostile.map(({ shape, ratio, ms }) => [shape, ratio === 0 ? '-' : cell(ratio, 2),
      cell(ms, 0)]), false),
    '',
    `  The event loop was held for ${cell(held.scanning)} ms at most (${held.shape}); ${cell(held.idle)} ms with nothing to do.`,
    '',
  ].join('\n');
}
