import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { verifyLines } from './verify-lines.js';

const VECTORS = join(import.meta.dirname, '../../../verifier/vectors');

interface Wanted {
  readonly verdict: string;
  readonly breaks: readonly { readonly kind: string }[];
}

const expected = JSON.parse(readFileSync(join(VECTORS, 'expected.json'), 'utf8')) as Record<string, Wanted>;

async function* linesOf(text: string): AsyncGenerator<Uint8Array> {
  for (const line of text.split('\n')) if (line !== '') yield Buffer.from(line, 'utf8');
}

const verdictOf = ({ breaksFound, uncovered, checkpoint }: Awaited<ReturnType<typeof verifyLines>>) =>
  breaksFound > 0 ? 'tampered' : uncovered === 0 && checkpoint ? 'valid' : 'valid_unanchored';

/** The verifier that shares no code with this one says the same of every file. */
describe('an export, line by line', () => {
  it.each(readdirSync(VECTORS).filter((name) => name.endsWith('.jsonl')))('%s', async (name) => {
    const wanted = expected[name] ?? expected[name.replace('.jsonl', '')];
    const found = await verifyLines(linesOf(readFileSync(join(VECTORS, name), 'utf8')));
    expect([verdictOf(found), new Set(found.breaks.map(({ kind }) => kind))])
      .toEqual([wanted!.verdict, new Set(wanted!.breaks.map(({ kind }) => kind))]);
  });
});
