import { describe, expect, test } from '@jest/globals';
import { eraseJson, eraseList, eraseText } from './erase-texts.js';
import { textMatcher } from './text-matcher.js';

const holds = textMatcher(['Jo Doe', 'jo@example.org', '4711-0815', '88123456']);

describe('what holds a text goes, and nothing beside it', () => {
  test.each([
    ['a text goes whole', 'for JO  DOE, tomorrow', '[erased]'],
    ['part of a word does not hold it', 'Banjo Doe', 'Banjo Doe'],
    ['the address goes, the amount stays', { to: 'jo@example.org', amount: 5 }, { to: '[erased]', amount: 5 }],
    ['at any depth', { a: [{ b: ['x', 'Jo Doe'] }, true, null] }, { a: [{ b: ['x', '[erased]'] }, true, null] }],
    ['a number', { phone: 88_123_456, n: 8 }, { phone: '[erased]', n: 8 }],
    ['a key, and what it names stays', { 'jo@example.org': { sum: 1 } }, { '[erased]': { sum: 1 } }],
    ['a text in which it stands escaped', { quoted: '{"to":"Jo\\nDoe","cc":"Al"}' }, { quoted: '[erased]' }],
    ['a path with it', [{ op: 'remove', path: '/cc~1jo@example.org' }], [{ op: 'remove', path: '[erased]' }]],
    ['keys stay apart', { 'jo@example.org': 1, 'Jo Doe': 2, '[erased]': 3 }, { '[erased] 2': 1, '[erased] 3': 2, '[erased]': 3 }],
    ['an outer key and an inner one', { 'Jo Doe': { 'jo doe': 'Jo Doe' } }, { '[erased]': { '[erased]': '[erased]' } }],
    ['a member named as a prototype is', JSON.parse('{"__proto__":"Jo Doe"}'), JSON.parse('{"__proto__":"[erased]"}')],
  ])('%s', (_, value, erased) => {
    expect(eraseJson(value, holds)).toEqual(erased);
    expect(eraseJson(eraseJson(value, holds), holds)).toEqual(erased);
  });

  test('what holds nothing comes back as it is', () => {
    const value = { a: [1, { b: 'x' }], c: null };
    expect(eraseJson(value, holds)).toBe(value);
    const list = ['a', 'b'];
    expect(eraseList(list, holds)).toBe(list);
  });

  test('lists and texts', () => {
    expect(eraseList(['usr_1', 'Jo@Example.org'], holds)).toEqual(['usr_1', '[erased]']);
    expect(eraseText('no. 4711-0815!', holds)).toBe('[erased]');
  });
});
