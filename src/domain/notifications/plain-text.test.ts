import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { HIDDEN, MISLEADING } from '../../../test/support/notifications/messages.js';
import { cut, inputSummary, oneLine, shownInput, visible } from './plain-text.js';

describe('text that people are shown', () => {
  test.each([
    ['\u202eabc', '⟦U+202E⟧abc'], ['a\u200bb', 'a⟦U+200B⟧b'], ['a\rb\nc\td', 'a⟦U+000D⟧b\nc\td'], ['\ud800', '⟦U+D800⟧'],
    ['a\u{e0041}', 'a⟦U+E0041⟧'], ['⟦U+202E⟧', '⟦U+27E6⟧U+202E⟧'], ['Grüße 你好 😀', 'Grüße 你好 😀'], ['', ''],
  ])('%j is shown as %j', (text, shown) => expect(visible(text)).toBe(shown));

  test('in one line has no line break either', () => {
    expect(oneLine('a\r\nb\tc\u2028d')).toBe('a⟦U+000D⟧⟦U+000A⟧b⟦U+0009⟧c⟦U+2028⟧d');
  });

  test.each(MISLEADING)('shows every character of %j', (text) => {
    for (const shown of [visible(text), oneLine(text), shownInput({ [text]: text }), inputSummary({ [text]: text, other: [text] })]) {
      expect(shown).not.toMatch(HIDDEN);
    }
    expect(oneLine(text)).not.toMatch(/[\r\n\t]/);
    expect(inputSummary({ [text]: text })).not.toMatch(/[\r\n\t]/);
  });

  test('is never longer than it may be, and never half a character, whatever it is', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary', maxLength: 80 }), fc.integer({ min: 1, max: 40 }), (text, max) => {
      const line = oneLine(text, max);
      expect(Array.from(line).length).toBeLessThanOrEqual(max);
      expect(line).not.toMatch(/[\ud800-\udfff]/u);
      expect(line).not.toMatch(HIDDEN);
      expect(Array.from(cut(text, max)).length).toBeLessThanOrEqual(max);
    }));
  });

  test('of two texts that differ, shown whole, differs', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary', maxLength: 6 }), fc.string({ unit: 'binary', maxLength: 6 }), (one, other) => {
      expect(visible(one) === visible(other)).toBe(one === other);
    }));
  });

  test('of what would run says the JSON that runs', () => {
    fc.assert(fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (input) => {
      const shown = shownInput(input as never);
      if (!shown.includes('⟦')) expect(JSON.parse(shown)).toEqual(JSON.parse(JSON.stringify(input)));
    }));
  });
});

test('a summary of an input is short and in one line', () => {
  expect(inputSummary({})).toBe('{}');
  expect(inputSummary({ to: 'a@example.org', amount: 5, deep: { a: { b: 1 } }, list: [1, 2, 3], none: null, yes: true }))
    .toBe('to: "a@example.org", amount: 5, deep: {1}, list: [3], none: null, yes: true');
  expect(inputSummary({ body: 'x'.repeat(500) })).toBe(`body: "${'x'.repeat(59)}…"`);
  expect(Array.from(inputSummary(Object.fromEntries(Array.from({ length: 500 }, (_, n) => [`n${n}`, n])))).length).toBe(200);
});
