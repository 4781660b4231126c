import { isDeepStrictEqual } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { times } from '../../../../test/support/running/whole-form.js';
import fc from 'fast-check';
import type { JsonValue } from '../../../domain/json.js';
import { parseStrictJson } from './strict-json.js';

const read = (text: string) => parseStrictJson(Buffer.from(text, 'utf8'));
const value = (text: string): JsonValue => {
  const result = read(text);
  if (!result.ok) throw new Error(`${result.pointer}: ${result.message}`);
  return result.value;
};
const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
const deepObject = (levels: number) => '{"a":'.repeat(levels) + '1' + '}'.repeat(levels);

describe('parseStrictJson refuses', () => {
  const cases: [what: string, text: string, pointer: string, message: RegExp][] = [
    ['nothing', '', '', /expected a value at character 1/],
    ['white space only', ' \n\t', '', /expected a value/],
    ['a bare word', 'nope', '', /expected a value/],
    ['a trailing comma in an object', '{"a":1,}', '', /member name/],
    ['a trailing comma in an array', '[1,]', '/1', /expected a value/],
    ['a missing colon', '{"a" 1}', '/a', /a colon/],
    ['a missing comma', '{"a":1 "b":2}', '', /a comma or }/],
    ['an unclosed object', '{"a":1', '', /a comma or }/],
    ['an unclosed array', '[1', '', /a comma or ]/],
    ['an unclosed string', '{"a":"b', '/a', /closing quote/],
    ['single quotes', "{'a':1}", '', /member name/],
    ['a comment', '{/* */}', '', /member name/],
    ['something after the value', '{} {}', '', /nothing after/],
    ['a leading zero', '[01]', '', /a comma or ]/],
    ['a plus sign', '+1', '', /expected a value/],
    ['a bare minus', '[-]', '/0', /a digit/],
    ['a bare point', '[1.]', '/0', /a digit/],
    ['an empty exponent', '[1e]', '/0', /a digit/],
    ['hexadecimal', '[0x1]', '', /a comma or ]/],
    ['NaN', '[NaN]', '/0', /expected a value/],
    ['Infinity', '[-Infinity]', '/0', /a digit/],
    ['an unknown escape', '{"a":"\\x41"}', '/a', /valid escape/],
    ['an escape cut short', '{"a":"\\', '/a', /valid escape/],
    ['a short \\u', '{"a":"\\u12"}', '/a', /four hexadecimal/],
    ['a raw control character', '{"a":"\n"}', '/a', /control characters/],
    ['a raw control character after an escape', '{"a":"\\t\n"}', '/a', /control characters/],
    ['a non-JSON space', '\u00a01', '', /expected a value/],
    ['raw NUL', '{"a":"\u0000"}', '/a', /NUL/],
    ['escaped NUL', '{"a":{"b":["x","\\u0000"]}}', '/a/b/1', /NUL/],
    ['escaped NUL in a name', '{"a":{"\\u0000":1}}', '/a', /NUL/],
    ['a lone high surrogate', '{"a":"\\ud83d"}', '/a', /surrogate/],
    ['a lone low surrogate', '{"a":"\\ude00"}', '/a', /surrogate/],
    ['surrogates in the wrong order', '{"a":"\\ude00\\ud83d"}', '/a', /surrogate/],
    ['an escaped high surrogate before a raw pair', '{"a":"\\ud83d😀"}', '/a', /surrogate/],
    ['a lone surrogate in a name', '{"\\ud800":1}', '', /surrogate/],
    ['overflow', '{"n":1e400}', '/n', /9007199254740991/],
    ['negative overflow', '{"n":-1e400}', '/n', /9007199254740991/],
    ['2^53', '{"n":9007199254740992}', '/n', /9007199254740991/],
    ['2^53 + 1, which rounds', '{"n":9007199254740993}', '/n', /9007199254740991/],
    ['−2^53', '{"n":-9007199254740992}', '/n', /9007199254740991/],
    ['an integer written with a point', '{"n":9007199254740993.0}', '/n', /9007199254740991/],
    ['an integer written with an exponent', '{"n":1e20}', '/n', /9007199254740991/],
    ['a name twice', '{"a":1,"a":1}', '/a', /twice/],
    ['a name twice, escaped once', '{"ab":1,"\\u0061b":2}', '/ab', /twice/],
    ['a name twice, deep', '{"x":[{"a":1,"b":2,"a":3}]}', '/x/0/a', /twice/],
    ['constructor twice', '{"constructor":1,"constructor":2}', '/constructor', /twice/],
    ['__proto__', '{"__proto__":{}}', '/__proto__', /not accepted/],
    ['__proto__, deep', '{"input":[{"__proto__":null}]}', '/input/0/__proto__', /not accepted/],
    ['__proto__, escaped', '{"\\u005f_proto__":1}', '/__proto__', /not accepted/],
    ['65 levels of arrays', nested(65), '/0'.repeat(64), /64 levels/],
    ['65 levels of objects', deepObject(65), '/a'.repeat(64), /64 levels/],
    ['100,000 levels', nested(100_000), '/0'.repeat(64), /64 levels/],
    ['100,000 unclosed levels', '['.repeat(100_000), '/0'.repeat(64), /64 levels/],
    ['a pointer of names that need escaping', '{"a/b":{"~":01}}', '/a~1b', /a comma or }/],
  ];
  it.each(cases)('%s', (_what, text, pointer, message) => {
    expect(read(text)).toEqual({ ok: false, pointer, message: expect.stringMatching(message) });
  });

  it.each([
    ['a byte order mark', [0xef, 0xbb, 0xbf, 0x31], /byte order mark/],
    ['a broken sequence', [0x22, 0xc3, 0x28, 0x22], /UTF-8/],
    ['an overlong form', [0x22, 0xc0, 0xaf, 0x22], /UTF-8/],
    ['a raw surrogate (CESU-8)', [0x22, 0xed, 0xa0, 0xbd, 0xed, 0xb8, 0x80, 0x22], /UTF-8/],
    ['beyond U+10FFFF', [0x22, 0xf4, 0x90, 0x80, 0x80, 0x22], /UTF-8/],
    ['UTF-16', [0xff, 0xfe, 0x31, 0x00], /UTF-8/],
  ])('%s', (_what, bytes, message) => {
    expect(parseStrictJson(Uint8Array.from(bytes))).toEqual({ ok: false, pointer: '', message: expect.stringMatching(message) });
  });

  it('with a pointer that can be read, however long the name', () => {
    const result = read(`{"${'😀'.repeat(5_000)}":01}`);
    expect(result.ok).toBe(false);
    const long = read(`{"x${'😀'.repeat(5_000)}":1e999}`);
    expect(long.ok ? '' : long.pointer).toHaveLength(1_001);
    expect(long.ok ? '' : encodeURIComponent(long.pointer)).toMatch(/%E2%80%A6$/);
  });
});

describe('parseStrictJson accepts', () => {
  it.each([
    ['null'], ['true'], ['false'], ['0'], ['-0'], ['-1.5e-3'], ['1E+2'], ['""'], ['[]'], ['{}'], [' [ 1 , 2 ] '],
    ['9007199254740991'], ['-9007199254740991'], ['0.1'], ['1e-400'], ['"\\ud83d\\ude00 😀"'], ['"\\"\\\\\\/\\b\\f\\n\\r\\t"'],
    ['{"":1,"1":2,"a":{"b":[{}]}}'], ['"\u007f\u2028\ufeff"'], [nested(64)], [deepObject(64)],
    ['{"constructor":{"prototype":{"x":1}},"prototype":1,"toString":"a","hasOwnProperty":null,"valueOf":[]}'],
  ])('%s as JSON.parse does', (text) => {
    // Jest's own comparison asks each object for its constructor, which is a member here.
    expect(isDeepStrictEqual(value(text), JSON.parse(text))).toBe(true);
  });

  it('names of Object.prototype as members of the object itself, which stays plain', () => {
    const object = value('{"constructor":1,"toString":2,"__defineGetter__":3,"hasOwnProperty":4}') as object;
    expect(Object.keys(object)).toEqual(['constructor', 'toString', '__defineGetter__', 'hasOwnProperty']);
    expect(Object.getPrototypeOf(object)).toBe(Object.prototype);
    expect(Object.hasOwn(Object.prototype, '__defineGetter__')).toBe(true);
  });

  it('another limit of depth', () => {
    expect(parseStrictJson(Buffer.from('[[1]]'), { maxDepth: 1 }).ok).toBe(false);
    expect(parseStrictJson(Buffer.from('[[1]]'), { maxDepth: 2 }).ok).toBe(true);
  });

  it('a view into a larger buffer', () => {
    const bytes = Buffer.from('xx{"a":1}yy').subarray(2, 9);
    expect(parseStrictJson(new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length))).toEqual({ ok: true, value: { a: 1 } });
  });
});

/** Says of a value that JSON.parse understood whether the strict reader must refuse it, by walking the value. */
function beyondIJson(found: unknown, depth = 1): boolean {
  if (typeof found === 'number') return !Number.isFinite(found) || (Number.isInteger(found) && !Number.isSafeInteger(found));
  if (typeof found === 'string') return found.includes('\0') || Buffer.from(found, 'utf8').toString('utf8') !== found;
  if (typeof found !== 'object' || found === null) return false;
  if (depth > 64) return true;
  return Object.entries(found).some(
    ([name, member]) => name === '__proto__' || beyondIJson(name, depth) || beyondIJson(member, depth + 1),
  );
}

describe('parseStrictJson beside JSON.parse', () => {
  it('gives the same for every JSON value, and refuses exactly what I-JSON does not hold', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6, stringUnit: 'binary' }), fc.nat(2), (original, indent) => {
        const text = JSON.stringify(original, null, indent);
        const result = read(text);
        if (beyondIJson(JSON.parse(text))) expect(result.ok).toBe(false);
        else expect(result).toStrictEqual({ ok: true, value: JSON.parse(text) });
      }),
      { numRuns: times(300, 1_000) },
    );
  });

  it('agrees on texts that are nearly JSON', () => {
    const piece = fc.constantFrom(
      '{', '}', '[', ']', ',', ':', '"', '"a"', '"b":', '1', '-', '0', '.', '5', 'e', 'E', '+', ' ', '\n', '\t', '\\',
      '\\n', '\\u', '0041', '\\u0041', 'true', 'false', 'null', 'nul', '"\\ud83d\\ude00"', 'é', '{}', '[]', '"x":{}', '1e5',
      '\u0001', '/',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const text = pieces.join('');
        let native: { value: unknown } | undefined;
        try {
          native = { value: JSON.parse(text) };
        } catch {
          native = undefined;
        }
        const result = read(text);
        if (native === undefined) expect(result.ok).toBe(false);
        else if (result.ok) expect(result.value).toStrictEqual(native.value);
        else expect(result.message).toMatch(/twice|number within|surrogate/);
      }),
      { numRuns: 2_000 },
    );
  });

  it('never throws, whatever the bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
        expect(typeof parseStrictJson(bytes).ok).toBe('boolean');
      }),
      { numRuns: 2_000 },
    );
  });
});
