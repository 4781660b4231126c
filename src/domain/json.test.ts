import { describe, expect, it } from '@jest/globals';
import { MAX_DEPTH, parseJson, readJson, shownJson, UNREADABLE } from './json.js';

const deep = (levels: number, open = '[', close = ']') => open.repeat(levels) + close.repeat(levels);

describe('JSON that somebody may have tampered with', () => {
  it('is read as deep as it may be, and no deeper', () => {
    expect(JSON.stringify(parseJson(deep(MAX_DEPTH)))).toBe(deep(MAX_DEPTH));
    expect(() => parseJson(deep(MAX_DEPTH + 1))).toThrow(SyntaxError);
    expect(() => parseJson(`{"a":${deep(MAX_DEPTH)}}`)).toThrow(SyntaxError);
    expect(() => parseJson(deep(3), 2)).toThrow(SyntaxError);
    expect(readJson(deep(5_000_000))).toBeUndefined();
  });

  it('counts neither what stands beside one another nor what is within texts', () => {
    const beside = JSON.stringify(Array.from({ length: MAX_DEPTH * 4 }, () => [{}]));
    const quoted = JSON.stringify({ text: `${deep(MAX_DEPTH * 4)}"\\"${deep(MAX_DEPTH * 4)}` });
    for (const text of [beside, quoted]) expect(JSON.stringify(readJson(text))).toBe(text);
    expect(readJson(`["\\\\",${deep(MAX_DEPTH)}]`)).toBeUndefined();
  });

  it('reads as unreadable where it only has to be shown', () => {
    expect([shownJson('{'), shownJson(deep(100_000)), shownJson('null'), shownJson('[1]')]).toEqual([UNREADABLE, UNREADABLE, null, [1]]);
  });
});
