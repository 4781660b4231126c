import { describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import canonicalize from 'canonicalize';
import fc from 'fast-check';
import { anyText } from '../../../../test/support/running/any-text.js';
import { jcs } from './jcs.js';

interface Vectors {
  texts: { name: string; json: string; canonical: string }[];
  numbers: { bits: string; canonical: string }[];
}

const vectors = JSON.parse(readFileSync(new URL('../../../../test/vectors/audit-jcs.json', import.meta.url), 'utf8')) as Vectors;

describe('canonical JSON (RFC 8785)', () => {
  it.each(vectors.texts)('$name', ({ json, canonical }) => {
    expect(jcs(JSON.parse(json))).toBe(canonical);
  });

  it.each(vectors.numbers)('appendix B: $bits is $canonical', ({ bits, canonical }) => {
    const view = new DataView(new ArrayBuffer(8));
    view.setBigUint64(0, BigInt(`0x${bits}`));
    expect(jcs(view.getFloat64(0))).toBe(canonical);
    expect(jcs([view.getFloat64(0)])).toBe(`[${canonical}]`);
  });

  const cycle: unknown[] = [];
  cycle.push(cycle);
  it.each([
    ['undefined', undefined],
    ['an undefined member', { a: undefined }],
    ['an undefined element', [1, undefined]],
    // eslint-disable-next-line no-sparse-arrays -- the hole is what is tested
    ['a hole', [1, , 3]],
    ['a function', { a: () => 1 }],
    ['a symbol', [Symbol('s')]],
    ['a big integer', { a: 1n }],
    ['NaN', NaN],
    ['an infinity, deep', { a: [{ b: -Infinity }] }],
    ['a lone surrogate', 'a\ud800'],
    ['a lone surrogate as a key', { '\udc00': 1 }],
    ['a Date', { at: new Date(0) }],
    ['a Map', new Map()],
    ['a cycle', cycle],
  ])('refuses %s', (_name, value) => {
    expect(() => jcs(value)).toThrow(/no canonical form/);
  });

  it('keeps what looks dangerous as ordinary text: __proto__, constructor, unnormalised letters', () => {
    const value: unknown = JSON.parse('{"constructor":1,"__proto__":2,"e\u0301":"\u00e9"}');
    expect(jcs(value)).toBe('{"__proto__":2,"constructor":1,"e\u0301":"\u00e9"}');
  });

  it('is its own fixed point, and loses nothing', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
        const text = jcs(value);
        expect(jcs(JSON.parse(text))).toBe(text);
        // JSON has one zero; toEqual tells the two apart.
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
      }),
      { seed: 8785, numRuns: 500 },
    );
  });

  it('writes what the reference library writes', () => {
    const names = fc.oneof(anyText(), fc.constantFrom('__proto__', 'constructor', 'toString', '10', '9', ''));
    const { value } = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { depthSize: 'small' },
        anyText(), fc.double({ noNaN: true, noDefaultInfinity: true }), fc.boolean(), fc.constant(null),
        fc.array(tie('value')), fc.dictionary(names, tie('value')),
      ),
    }));
    fc.assert(
      fc.property(value, (json) => {
        expect(jcs(json)).toBe(canonicalize(json));
      }),
      { seed: 8785, numRuns: 1_000 },
    );
  });

  it('does not depend on the order in which members were set', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string({ unit: 'grapheme' }), fc.integer()), (members) => {
        const reversed = Object.fromEntries(Object.entries(members).reverse());
        expect(jcs(reversed)).toBe(jcs(members));
      }),
      { seed: 8785, numRuns: 300 },
    );
  });
});
