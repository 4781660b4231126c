import { afterEach, describe, expect, test } from '@jest/globals';
import { cellText, distance, fields, printJson, table } from './shown.js';

const { write } = process.stdout;
afterEach(() => {
  process.stdout.write = write;
});

function printed(value: unknown): string {
  let text = '';
  process.stdout.write = (part: string | Uint8Array) => {
    text += String(part);
    return true;
  };
  printJson(value);
  return text;
}

describe('what others wrote', () => {
  const HOSTILE = 'a\u001b[2J\u009b\u202e\u200b\u{e0041}\u2028b\ud800\u3164';

  test('is the same value in JSON, and drives no terminal', () => {
    const text = printed({ [HOSTILE]: [HOSTILE, 'ünï 中 😀'] });
    expect(JSON.parse(text)).toEqual({ [HOSTILE]: [HOSTILE, 'ünï 中 😀'] });
    expect(text).toMatch(/^[\n\x20-\x7e]*"ünï 中 😀"[\n\x20-\x7e]*$/u);
  });

  test('is one line in a cell, cut, with every character visible', () => {
    expect(cellText('a\nb\u202ec')).toBe('a⟦U+000A⟧b⟦U+202E⟧c');
    expect([...cellText('x'.repeat(500))]).toHaveLength(48);
    expect([cellText(''), cellText(undefined)]).toEqual(['–', '–']);
  });
});

test('columns and fields stand below each other', () => {
  expect(table(['id', 'name'], [['1', 'a'], ['1234', 'bc']])).toBe('  id    name\n  1     a\n  1234  bc');
  expect(fields([['a', '1'], ['none', undefined], ['long', '2']])).toBe('  a     1\n  long  2');
});

test('moments are told by their distance', () => {
  expect([500, 61_000, -7_200_000, 90_000_000].map(distance)).toEqual(['in 1 s', 'in 1 min', '2 h ago', 'in 1 d']);
  expect(distance(0)).toBe('in 0 s');
});
