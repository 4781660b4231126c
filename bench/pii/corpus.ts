import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { EntityType } from '../../src/domain/pii/entity-types.js';

/** A line of the corpus: a text, and every value in it. */
export interface CorpusLine {
  readonly lang: string;
  readonly text: string;
  readonly spans: readonly (readonly [start: number, end: number, type: EntityType])[];
}

/** The half that the recognizers were made with, and the half that they have never seen. */
export type CorpusHalf = 'tuned' | 'held-out';

/** The organization's own words of the corpus. */
export const CORPUS_TERMS = ['Project Halcyon', 'Nordlicht', 'Blue Heron', 'Kestrel-9'];

export function corpus(half: CorpusHalf): readonly CorpusLine[] {
  const lines = readFileSync(join(process.cwd(), 'test', 'pii', 'corpus', `${half}.jsonl`), 'utf8').trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line) as CorpusLine);
}
