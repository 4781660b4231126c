import { describe, expect, it } from '@jest/globals';
import { preferencesOf, prefersLenience } from './prefer.js';

describe('prefersLenience', () => {
  it.each([
    'handling=lenient', 'Handling=Lenient', 'handling="lenient"', ' handling = lenient ', 'handling=lenient;why=old',
    'respond-async, wait=100, handling=lenient', 'return=minimal; foo="some, thing; handling=strict", handling=lenient',
    'handling=lenient, handling=strict', 'handling="\\lenient"', ',,handling=lenient,',
  ])('by %s', (prefer) => {
    expect(prefersLenience({ headers: { prefer } })).toBe(true);
  });

  it.each([
    '', 'lenient', 'handling', 'handling=', 'handling=strict', 'handling=strict, handling=lenient', 'handling=lenient-ish',
    'x-handling=lenient', 'foo="handling=lenient"', 'foo=bar; handling=lenient', 'foo="a, handling=lenient', 'handling lenient',
    `x=${'y'.repeat(1_000)}, handling=lenient`,
  ])('not by %s', (prefer) => {
    expect(prefersLenience({ headers: { prefer } })).toBe(false);
  });

  it('not without a header', () => {
    expect(prefersLenience({ headers: {} })).toBe(false);
  });
});

describe('preferencesOf', () => {
  it('reads the examples of RFC 7240', () => {
    expect([...preferencesOf('foo; bar')]).toEqual([['foo', '']]);
    expect([...preferencesOf('foo; bar=""')]).toEqual([['foo', '']]);
    expect([...preferencesOf('foo=""; bar')]).toEqual([['foo', '']]);
    expect([...preferencesOf('respond-async, wait=100, handling=lenient')]).toEqual([
      ['respond-async', ''], ['wait', '100'], ['handling', 'lenient'],
    ]);
    expect([...preferencesOf('priority=5, Priority=6')]).toEqual([['priority', '5']]);
  });

  it('takes no time over what is no list', () => {
    for (const nonsense of ['"\\'.repeat(500), '"'.repeat(999), '='.repeat(1_000), ' '.repeat(1_000), 'a'.repeat(1_000)]) {
      expect(preferencesOf(nonsense).get('handling')).toBeUndefined();
    }
  });
});
