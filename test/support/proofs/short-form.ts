import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import type { Proof } from './proof.js';
import { CHECKOUT } from '../servers/test-run.js';

const SEED = 20_261_121;
const SHARE_OF_LONG_FORM = 0.02;

/** Each kind is a file of its own, so that they run side by side. A proof belongs to the first that its name fits. */
const KINDS = { crashes: /crash|rotation/, tampering: /tamper/, races: /race|flood/, others: /./ };

const kindOf = (file: string) => Object.entries(KINDS).find(([, names]) => names.test(basename(file)))![0];

/** Which of them are wanted: all, unless scripts/prove.mjs names some. */
const WANTED = process.env['COUNTERSIGN_PROOFS']?.split(',') ?? [];

/** Tests that the proofs of a kind hold in their short form. */
export async function shortForms(kind: keyof typeof KINDS): Promise<void> {
  const files = readdirSync(join(CHECKOUT, 'test/proofs'), { encoding: 'utf8', recursive: true })
    .filter((file) => file.endsWith('.proof.ts') && kindOf(file) === kind)
    .sort();
  const proofs: Proof[] = [];
  // One after the other: Jest's loader of ES modules trips when two of them first ask for the same module at once.
  const wanted = files.filter((file) => WANTED.join() === '' || WANTED.includes(basename(file, '.proof.ts')));
  for (const file of wanted) proofs.push(((await import(`../../proofs/${file.replace(/\.ts$/, '.js')}`)) as { proof: Proof }).proof);

  describe(`every proof of ${kind} holds in its short form`, () => {
    for (const proof of proofs) test(`${proof.name}: ${proof.title}`, async () => {
      const count = proof.shortCount ?? Math.ceil(proof.longCount * SHARE_OF_LONG_FORM);
      const result = await proof.run({ count, seed: SEED, progress: () => undefined });
      expect(result.counterexample).toBeUndefined();
      expect(result.checked).toBeGreaterThanOrEqual(count);
      // A proof whose cases never reach a part of its claim says nothing about that part.
      expect(Object.entries(result.coverage).filter(([, times]) => times === 0)).toEqual([]);
    });

    test('each is named as its file, so that npm run prove finds it', () => {
      expect(proofs.map(({ name }) => `${name}.proof.ts`)).toEqual(wanted.map((file) => basename(file)));
    });
  });
}
