import { describe, expect, it } from '@jest/globals';
import { textArray } from './text-array.js';

// Taken from a server: `select array_send(array[…]::text[])`.
const FROM_POSTGRESQL: [name: string, values: (string | null)[], hex: string][] = [
  ['an empty array', [], '000000000000000000000019'],
  ['one text', ['ab'], '000000010000000000000019000000010000000100000002' + '6162'],
  ['an empty text, and null', ['', null], '000000010000000100000019000000020000000100000000' + 'ffffffff'],
  ['quotes, backslashes and other alphabets', ['"\\', 'é€😀'],
    '000000010000000000000019000000020000000100000002' + '225c' + '00000009' + 'c3a9e282acf09f9880'],
];

describe('textArray', () => {
  it.each(FROM_POSTGRESQL)('writes %s as PostgreSQL does', (_name, values, hex) => {
    expect(textArray(values).toString('hex')).toBe(hex);
  });
});
