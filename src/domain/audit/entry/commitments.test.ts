import { describe, expect, it } from '@jest/globals';
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { commitMembers, commitValue, commitmentDigest, disclosuresText, type Disclosure } from './commitments.js';
import { jcs } from './jcs.js';
import { parseCanonical } from './payload.js';
import { pointerSteps, pointerToken } from './json-pointer.js';

/** The formula as it is specified, with nothing shared or pooled. */
const digest = (salt: string, text: string) =>
  createHash('sha256').update(Buffer.concat([Buffer.from(salt, 'base64url'), Buffer.from(text, 'utf8')])).digest('base64url');

describe('commitments', () => {
  it('hash the raw salt and the UTF-8 bytes of the text, of any length', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 20 }), fc.string({ unit: 'grapheme' }), fc.nat(3), (salt, text, times) => {
        const long = text.repeat(10 ** times);
        expect(commitmentDigest(salt, long)).toBe(digest(Buffer.from(salt).toString('base64url'), long));
      }),
      { seed: 11, numRuns: 200 },
    );
  });

  it('bind the key of a member, and the order of the digests tells nothing of the keys', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string({ unit: 'grapheme' }), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 64 }), (value) => {
        const disclosures: Disclosure[] = [];
        const text = commitMembers(value, '/metadata/input', disclosures);
        const { '~members': digests } = JSON.parse(text) as { '~members': string[] };
        expect(digests).toEqual([...digests].sort());
        expect(disclosures.map(({ d }) => d).sort()).toEqual(digests);
        const read = disclosures.map(({ d, pointer, salt, value: member }) => {
          const key = pointerSteps(pointer)!.at(-1)!;
          expect(d).toBe(digest(salt!, jcs([key, JSON.parse(member!)])));
          return [key, JSON.parse(member!)];
        });
        expect(Object.fromEntries(read)).toEqual(JSON.parse(JSON.stringify(value)));
      }),
      { seed: 12, numRuns: 300 },
    );
  });

  it('of the same value differ each time', () => {
    const disclosures: Disclosure[] = [];
    for (let n = 0; n < 1_500; n++) commitValue('yes', '/metadata/comment', disclosures);
    expect(new Set(disclosures.map(({ d }) => d)).size).toBe(1_500);
    expect(new Set(disclosures.map(({ salt }) => salt)).size).toBe(1_500);
  });

  it('refuse a value that JSON cannot say', () => {
    expect(() => commitValue(undefined, '/metadata/comment', [])).toThrow(TypeError);
    expect(() => commitMembers({ to: undefined }, '/metadata/input', [])).toThrow(TypeError);
  });

  it('are written sorted by pointer, an erased one without its value', () => {
    const text = disclosuresText([
      { d: 'b', pointer: '/origin/address', salt: 's', value: '"x"' },
      { d: 'a', pointer: '/metadata/input/"q"', salt: 't', erased: true },
    ]);
    expect(text).toBe(
      '[{"d":"a","pointer":"/metadata/input/\\"q\\"","salt":"t","erased":true},' +
        '{"d":"b","pointer":"/origin/address","salt":"s","value":"\\"x\\""}]',
    );
  });
});

describe('pointers (RFC 6901)', () => {
  it('hold any key', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'grapheme' }), { minLength: 1 }), (keys) => {
        expect(pointerSteps(keys.map((key) => `/${pointerToken(key)}`).join(''))).toEqual(keys);
      }),
      { seed: 13, numRuns: 200 },
    );
    expect(['', 'a', '/a~2', '/~'].map(pointerSteps)).toEqual([undefined, undefined, undefined, undefined]);
  });
});

describe('parseCanonical', () => {
  it('takes exactly the texts that equal their own canonical form', () => {
    const pieces = fc.constantFrom(...'{}[],: ', '"a"', '"b"', '"10"', '"2"', '1', '-0', '1.0', 'null', '"\\ud800"');
    const soup = fc.array(pieces, { maxLength: 8 }).map((parts) => parts.join(''));
    const canonical = fc.jsonValue({ maxDepth: 3 }).map(jcs);
    const asWritten = fc.jsonValue({ maxDepth: 3 }).map((value) => JSON.stringify(value));
    fc.assert(
      fc.property(fc.oneof(soup, canonical, asWritten), (text) => {
        let expected: unknown;
        try {
          expected = jcs(JSON.parse(text)) === text ? JSON.parse(text) : undefined;
        } catch {
          expected = undefined;
        }
        expect(parseCanonical(text)).toEqual(expected);
      }),
      { seed: 14, numRuns: 1_000 },
    );
    expect(parseCanonical('"\\ud800"')).toBeUndefined();
    expect(parseCanonical('{"10":1,"2":1}')).toEqual({ 2: 1, 10: 1 });
    expect(parseCanonical('{"2":1,"10":1}')).toBeUndefined();
    expect(parseCanonical('{"a":1,"a":1}')).toBeUndefined();
  });
});
