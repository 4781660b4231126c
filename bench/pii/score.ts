import type { EntityType } from '../../src/domain/pii/entity-types.js';
import type { CorpusLine } from './corpus.js';

/** What a scan found in a text: where, and of what type. */
export type FoundSpan = readonly [start: number, end: number, type: EntityType];

export interface Score {
  readonly values: number;
  readonly precision: number;
  readonly recall: number;
  readonly f1: number;
}

/**
 * By type. A value is found where a finding of its type holds all of it; a finding is wrong where no value of its type meets it.
 *
 * @param find a scan of somebody's, of one text
 */
export function scoresOf(lines: readonly CorpusLine[], find: (text: string) => readonly FoundSpan[]): ReadonlyMap<EntityType, Score> {
  const counts = new Map<EntityType, { hits: number; misses: number; wrong: number }>();
  const of = (type: EntityType) => {
    const known = counts.get(type) ?? { hits: 0, misses: 0, wrong: 0 };
    counts.set(type, known);
    return known;
  };
  for (const { text, spans } of lines) {
    const found = find(text);
    for (const [start, end, type] of spans) {
      const isFound = found.some(([from, to, its]) => its === type && from <= start && to >= end);
      of(type)[isFound ? 'hits' : 'misses']++;
    }
    for (const [from, to, type] of found) {
      if (!spans.some(([start, end, its]) => its === type && from < end && to > start)) of(type).wrong++;
    }
  }
  return new Map([...counts].map(([type, { hits, misses, wrong }]) => {
    const precision = hits / Math.max(1, hits + wrong);
    const recall = hits / Math.max(1, hits + misses);
    return [type, { values: hits + misses, precision, recall, f1: (2 * precision * recall) / Math.max(1e-9, precision + recall) }];
  }));
}
