import { describe, expect, it } from '@jest/globals';
import { ENTITY_TYPES, type EntityType } from '../../src/domain/pii/entity-types.js';
import { scanText } from '../../src/domain/pii/scan-text.js';
import { corpus, CORPUS_TERMS } from '../../bench/pii/corpus.js';
import { scoresOf } from '../../bench/pii/score.js';

/** What has neither a checksum nor a numbering plan's like, and is told by shape and words. */
const WITHOUT_CHECKSUM: ReadonlySet<EntityType> = new Set([
  'PHONE_NUMBER', 'IP_ADDRESS', 'MAC_ADDRESS', 'URL', 'SECRET', 'DATE_OF_BIRTH', 'US_SSN', 'UK_NINO', 'IN_PAN', 'EMAIL_ADDRESS', 'TERM',
]);

const tuned = corpus('tuned');
const heldOut = corpus('held-out');
const all = [...tuned, ...heldOut];

describe('the corpus', () => {
  it('has lines, types, languages and hard negatives enough, about half of each held out', () => {
    expect(all.length).toBeGreaterThanOrEqual(1_000);
    expect(new Set(all.map(({ text }) => text)).size).toBe(all.length);
    expect(new Set(all.flatMap(({ spans }) => spans.map(([, , type]) => type))).size).toBeGreaterThanOrEqual(12);
    expect(new Set(all.map(({ lang }) => lang)).size).toBeGreaterThanOrEqual(8);
    const negatives = [tuned, heldOut].map((half) => half.filter(({ spans }) => spans.length === 0).length);
    expect(negatives[0]! + negatives[1]!).toBeGreaterThanOrEqual(400);
    expect(Math.min(...negatives)).toBeGreaterThanOrEqual(150);
    expect(heldOut.length).toBeGreaterThanOrEqual(tuned.length);
  });

  it('says of each value where it stands, by a known type, without an overlap', () => {
    for (const { text, spans } of all) {
      let last = 0;
      for (const [start, end, type] of spans) {
        expect(ENTITY_TYPES).toContain(type);
        expect(start).toBeGreaterThanOrEqual(last);
        expect(text.slice(start, end)).toMatch(/^\S.+\S$/s);
        last = end;
      }
    }
  });
});

describe('the scan of the half that is held out', () => {
  const scores = scoresOf(heldOut, (text) => scanText(text, { terms: CORPUS_TERMS }).map(({ start, end, type }) => [start, end,
    type] as const));

  it.each([...scores.keys()])('finds %s, and little else by that name', (type) => {
    expect(scores.get(type)!.f1).toBeGreaterThanOrEqual(WITHOUT_CHECKSUM.has(type) ? 0.85 : 0.95);
  });
});
