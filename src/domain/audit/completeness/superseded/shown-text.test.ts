import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { JsonObject, JsonValue } from '../../../json.js';
import { eraseJson, eraseText } from '../../erasure/erase-texts.js';
import { jcs } from '../../entry/jcs.js';
import { outputSummary } from '../../entry/output-summary.js';
import { ERASED } from '../../entry/read-entry.js';
import { textMatcher } from '../../erasure/text-matcher.js';
import { agree, brief, canonical, sketchOf } from './shown-text.js';
import { Work } from './work.js';

const told = (text: string) => sketchOf(text, 'json', undefined);
const words = (text: string) => sketchOf(text, 'words', undefined);
const summary = (text: string) => sketchOf(outputSummary(text), 'summary', undefined);
const WHOLE = { isWhole: true, names: new Set<string>(), nameless: new Set<string>() };
/** @param nameless of how many members the name is erased, too */
const blanked = (text: string, names: readonly string[], nameless = 0) =>
  sketchOf(text, 'json', { isWhole: false, names: new Set(names), nameless: new Set(['[erased]', '[erased] 2'].slice(0, nameless)) });
const long = 'y'.repeat(500);
const ESCAPED = `${'x'.repeat(980)}"\\\n\u0001`;

describe('a text that is shown', () => {
  it.each<[string, string | null, Parameters<typeof agree>[1], boolean]>([
    ['the same', '{"a":1}', brief('{"a":1}'), true],
    ['another', '{"a":1}', brief('{"a":2}'), false],
    ['none, where there is none', null, null, true],
    ['one, where there is none', 'x', null, false],
    ['none, where there is one', null, brief('x'), false],
    ['of which nobody can tell', 'x', undefined, true],
    ['long', long, brief(long), true],
    ['one that is the digest of what was told', brief(long), brief(long), false],
    ['"[erased]", and nothing was erased', '[erased]', brief('a note'), false],
    ['none, and one that is erased', '[erased]', null, false],
  ])('%s', (_, shown, said, agrees) => expect(agree(shown, said)).toBe(agrees));

  it.each<[string, string | null, Parameters<typeof agree>[1], boolean]>([
    ['whole', '[erased]', words('a note'), true],
    ['in its middle: nothing erases that', 'a [erased]', words('a note'), false],
    ['and said otherwise', 'Gladly. [erased]', words('Never.'), false],
    ['not at all', 'a [erased] note', words('a [erased] note'), true],
    ['as if words were JSON', '{"a":"[erased]"}', words('{"a":"x"}'), false],
    ['as JSON', '"[erased]"', words('a note'), false],
    ['in part', '{"amount":5,"to":"[erased]"}', told('{"amount":5,"to":"jo"}'), true],
    ['deep within', '{"amount":5,"to":["[erased]","x"]}', told('{"amount":5,"to":["jo","x"]}'), true],
    ['a number', '{"n":"[erased]"}', told('{"n":88123456}'), true],
    ['a truth', '{"n":"[erased]"}', told('{"n":true}'), false],
    ['nothing', '{"n":"[erased]"}', told('{"n":null}'), false],
    ['a list', '{"n":"[erased]"}', told('{"n":["jo"]}'), false],
    ['an object', '{"n":"[erased]"}', told('{"n":{"to":"jo"}}'), false],
    ['one of a list, another gone', '["[erased]"]', told('["jo","x"]'), false],
    ['one of a list, another beside it', '["[erased]",5]', told('["jo",4]'), false],
    ['one of a list, and one more', '["[erased]","x"]', told('["jo"]'), false],
    ['in part, another beside it', '{"amount":9,"to":"[erased]"}', told('{"amount":5,"to":"jo"}'), false],
    ['in part, another deep beside it', '{"a":{"amount":9,"to":"[erased]"}}', told('{"a":{"amount":5,"to":"jo"}}'), false],
    ['in part, one more beside it', '{"amount":5,"cc":"x","to":"[erased]"}', told('{"amount":5,"to":"jo"}'), false],
    ['one more', '{"amount":5,"cc":"[erased]"}', told('{"amount":5}'), false],
    ['in part, one less beside it', '{"to":"[erased]"}', told('{"amount":5,"to":"jo"}'), false],
    ['within what is said otherwise', '{"to":"mallory [erased]"}', told('{"to":"jo"}'), false],
    ['within a number', '{"sum":"1000000 [erased]"}', told('{"sum":7}'), false],
    ['a name', '{"[erased]":1,"amount":5}', told('{"amount":5,"jo":1}'), true],
    ['a name, and what it named is another', '{"[erased]":2,"amount":5}', told('{"amount":5,"jo":1}'), false],
    ['a name of none', '{"[erased]":1,"amount":5}', told('{"amount":5}'), false],
    ['within a name', '{"amount [erased]":5}', told('{"amount":5}'), false],
    ['two names', '{"[erased]":1,"[erased] 2":[],"amount":5}', told('{"amount":5,"jo":1,"mary":[]}'), true],
    ['two names, the other way round', '{"[erased]":[],"[erased] 2":1,"amount":5}', told('{"amount":5,"jo":1,"mary":[]}'), true],
    ['two names, one value twice', '{"[erased]":1,"[erased] 2":1}', told('{"jo":1,"mary":2}'), false],
    ['two names, of which one value may be either', '{"[erased]":"[erased]","[erased] 2":1}', told('{"jo":1,"mary":2}'), true],
    ['a name, and what stands under it', '{"[erased]":{"[erased]":"[erased]","a":1}}', told('{"jo":{"a":1,"doe":"x"}}'), true],
    ['something, and another said twice', '{"to":"[erased]","sum":9,"sum":5}', told('{"sum":5,"to":"jo"}'), false],
    ['something long, and the rest', `{"a":"${long}","to":"[erased]"}`, told(`{"a":"${long}","to":"${long}"}`), true],
    ['something, and another long one', `{"a":"${long}z","to":"[erased]"}`, told(`{"a":"${long}","to":"jo"}`), false],
    ['"[erased]" there, another here', '{"to":"jo"}', told('{"to":"[erased]"}'), false],
    ['of no JSON', '{"to":', told('{"to":"jo"}'), false],
    ['of what was no JSON', '~x', told('~x'), true],
  ])('erased: %s', (_, shown, said, agrees) => expect(agree(shown, said)).toBe(agrees));

  it.each<[string, string | null, Parameters<typeof agree>[1], boolean]>([
    ['whole', 'a note', sketchOf('[erased]', 'words', WHOLE), true],
    ['whole, and gone here', null, sketchOf('[erased]', 'words', WHOLE), true],
    ['whole, of JSON', '{"a":1}', sketchOf('"[erased]"', 'json', WHOLE), true],
    ['whole, of an output', '{"a":1}', sketchOf('[erased]', 'summary', WHOLE), true],
    ['a value', '{"amount":5,"to":"jo"}', blanked('{"amount":5,"to":"[erased]"}', ['to']), true],
    ['a value that is no text', '{"amount":5,"to":{"a":[1]}}', blanked('{"amount":5,"to":"[erased]"}', ['to']), true],
    ['a value, another beside it', '{"amount":6,"to":"jo"}', blanked('{"amount":5,"to":"[erased]"}', ['to']), false],
    ['a value, one more beside it', '{"amount":5,"cc":1,"to":"jo"}', blanked('{"amount":5,"to":"[erased]"}', ['to']), false],
    ['a value, and its name here', '{"[erased]":[7],"amount":5}', blanked('{"amount":5,"to":"[erased]"}', ['to']), true],
    ['a value of a long name', `{"${long}":"jo"}`, blanked(`{"${long}":"[erased]"}`, [long]), true],
    ['a name', '{"amount":5,"jo":1}', blanked('{"[erased]":"[erased]","amount":5}', [], 1), true],
    ['a name, and two stand there', '{"amount":5,"jo":1,"mary":2}', blanked('{"[erased]":"[erased]","amount":5}', [], 1), false],
    ['a name, and none stands there', '{"amount":5}', blanked('{"[erased]":"[erased]","amount":5}', [], 1), false],
    ['a name, and an erased one more', '{"[erased]":2,"amount":5,"jo":1}', blanked('{"[erased]":"[erased]","amount":5}', [], 1), false],
    ['two names', '{"amount":5,"jo":1,"mary":2}', blanked('{"[erased]":"[erased]","[erased] 2":"[erased]","amount":5}', [], 2), true],
    ['two names, one of them here', '{"[erased]":1,"amount":5,"mary":2}',
      blanked('{"[erased]":"[erased]","[erased] 2":"[erased]","amount":5}', [], 2), true],
    ['a name, another beside it', '{"amount":6,"jo":1}', blanked('{"[erased]":"[erased]","amount":5}', [], 1), false],
    ['a name, another name beside it', '{"jo":1,"total":5}', blanked('{"[erased]":"[erased]","amount":5}', [], 1), false],
    ['a name, and here, too', '{"[erased]":1,"amount":5}', blanked('{"[erased]":"[erased]","amount":5}', [], 1), true],
    ['another value than here', '{"[erased]":"[erased]","sum":"x"}', blanked('{"jo":"z","sum":"[erased]"}', ['sum']), true],
    ['a real one deep within', '{"a":{"b":"x"},"to":"jo"}', blanked('{"a":{"b":"[erased]"},"to":"[erased]"}', ['to']), false],
    ['a real one beside it', '{"a":"x","to":"jo"}', blanked('{"a":"[erased]","to":"[erased]"}', ['to']), false],
  ])('erased of its entry: %s', (_, shown, said, agrees) => expect(agree(shown, said)).toBe(agrees));

  it.each<[string, JsonValue, JsonValue, boolean]>([
    ['a value', { a: 'jo', b: 1 }, { a: '[erased]', b: 1 }, true],
    ['a value, another beside it', { a: 'jo', b: 1 }, { a: '[erased]', b: 2 }, false],
    ['a longer number', { a: 'jo', b: 12 }, { a: '[erased]', b: 123 }, false],
    ['one across the cut', { a: 'x'.repeat(990), b: 'jo' }, { a: 'x'.repeat(990), b: '[erased]' }, true],
    ['a value at the cut', { a: 'jo', b: 'x'.repeat(974), c: [1] }, { a: '[erased]', b: 'x'.repeat(974), c: [1] }, true],
    ['a text across the cut', { a: 'x'.repeat(2_000), b: 'jo' }, { a: '[erased]', b: '[erased]' }, true],
    ['behind the cut', { a: 'x'.repeat(2_000), b: 'jo' }, { a: 'x'.repeat(2_000), b: '[erased]' }, true],
    ['behind the cut, and before it another', { a: 'x'.repeat(2_000), b: 'jo' }, { a: `y${'x'.repeat(1_999)}`, b: '[erased]' }, false],
    ['behind the cut, and before it one more', { b: 'x'.repeat(2_000), c: 'jo' }, { a: 1, b: 'x'.repeat(2_000), c: '[erased]' }, false],
    ['a name that sorts elsewhere now', { b: 'x'.repeat(985), jo: 1, z: 2 }, { '[erased]': 1, b: 'x'.repeat(985), z: 2 }, true],
    ['a name before the cut', { a: { jo: 1 }, b: 'x'.repeat(2_000) }, { a: { '[erased]': 1 }, b: 'x'.repeat(2_000) }, true],
    ['a name before the cut, with another value', { a: { jo: 1 }, b: long.repeat(3) }, { a: { '[erased]': 2 }, b: long.repeat(3) }, false],
    ['a list that goes on', ['jo', 'x'.repeat(2_000), 'y'], ['[erased]', 'x'.repeat(2_000), 'y'], true],
    ['a list that ends before', ['jo', 'x'.repeat(400), long, long], ['[erased]', 'x'.repeat(400)], false],
    ['an escape across the cut', { a: 'jo', b: ESCAPED }, { a: '[erased]', b: ESCAPED }, true],
    ['all of it', 'jo', '[erased]', true],
  ])('an output, erased: %s', (_, before, after, agrees) => expect(agree(jcs(after), summary(jcs(before)))).toBe(agrees));

  describe('takes as many steps as it is long', () => {
    const ACCEPTED = 256 * 1_024;
    const name = (of: string, n: number) => (n === 0 ? of : `${of} ${n + 1}`);
    /** As many members as given at each depth; each leaf tells its place. */
    const nested = (of: string, [members, ...deeper]: readonly number[], leaf: (n: number) => JsonValue, at = { n: 0 }): JsonValue =>
      members === undefined
        ? leaf(at.n++)
        : Object.fromEntries(Array.from({ length: members }, (_, n) => [name(of, n), nested(of, deeper, leaf, at)]));
    const SHAPES = [[60, 250], [250, 60], [14_000], [2, 7_000], [5_000, 2], [24, 24, 24], [5, 5, 5, 5, 5], new Array<number>(13).fill(2)];
    const pair = (n: number, other: JsonValue) => [n, other];

    it.each(SHAPES)('of %j names', (...shape) => {
      const texts = (of: string, leaf: (n: number) => JsonValue) => jcs(nested(of, shape, leaf));
      const counted = (shown: string, before: string) => {
        const [agrees] = [told(before), summary(before), blanked(before, ['n'], 1)].map((said) => {
          const work = new Work(shown.length + said.kept.length);
          const found = agree(shown, said, work);
          expect(work.steps).toBeLessThan(100_000 + 5 * (shown.length + before.length));
          return found;
        });
        return agrees;
      };
      const written = texts(ERASED, () => 7);
      expect(written.length).toBeLessThan(ACCEPTED);
      expect(counted(written, written)).toBe(true);
      expect(counted(written, texts('n', () => 7))).toBe(true);
      expect(counted(texts(ERASED, (n) => n), texts('n', (n) => n))).toBe(true);
      expect(counted(texts(ERASED, (n) => -1 - n), texts('n', (n) => n))).toBe(false);
      expect(counted(texts(ERASED, (n) => (n === 0 ? 'no' : ERASED)), texts('n', (n) => n))).toBe(false);
      expect(counted(texts(ERASED, (n) => pair(n, ERASED)), texts('n', (n) => pair(n, 'jo')))).toBe(true);
      counted(texts(ERASED, (n) => pair(-n, ERASED)), texts('n', (n) => pair(n, 'jo')));
      counted(texts(ERASED, (n) => (n % 2 === 0 ? ERASED : 5_000 - n)), texts('n', (n) => n));
    });

    it('and beyond that says at least whether anything is shown that is not told', () => {
      const members = Array.from({ length: 3_000 }, (_, n) => [`n${n}`, [n, `jo ${n}`, true]] as const);
      const before = jcs(Object.fromEntries(members));
      const shown = (of: (n: number) => JsonValue) => jcs(Object.fromEntries(members.map((_, n) => [name(ERASED, n), of(n)])));
      const other = (n: number) => (n * 1_697) % 3_000;
      const asked = (of: (n: number) => JsonValue) => agree(shown(of), told(before));
      // Texts and numbers that are all told, though not of the same member: to find out takes too many tries.
      const mixed = (n: number) => (n < 1_500 ? [ERASED, ERASED, true] : [other(n), `jo ${n}`, true]);
      expect(asked(mixed)).toBe(true);
      for (const last of [['no', ERASED, true], [ERASED, ERASED, false], [ERASED, ERASED]]) {
        expect(asked((n) => (n === 2_999 ? last : mixed(n)))).toBe(false);
      }
    });
  });

  it('is never the reason why a verification breaks off', () => {
    expect(canonical({ a: '\ud800' })).toBe('~{"a":"\\ud800"}');
    const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;
    expect(agree(deep, told(deep))).toBe(true);
    expect(agree(deep, told('[]'))).toBe(false);
    expect(agree(deep, summary(long))).toBe(false);
  });
});

/** A few words, so that what is erased stands in many places; long texts, so that outputs are cut; marks that somebody wrote. */
const word = fc.constantFrom('jo', 'doe', 'mary', 'x', ERASED, `${ERASED} 2`, 'a b', '"\\', '42', 'é', '😀', 'y'.repeat(60));
const phrase = fc.oneof(
  { weight: 4, arbitrary: fc.array(word, { minLength: 1, maxLength: 4 }).map((some) => some.join(' ')) },
  { weight: 1, arbitrary: fc.tuple(word, fc.nat(1_050)).map(([one, n]) => `${'z'.repeat(n)} ${one}`) },
);
const { json } = fc.letrec<{ json: JsonValue }>((tie) => ({
  json: fc.oneof({ maxDepth: 4 },
    phrase, fc.constantFrom<JsonValue[]>(42, 43, true, null, 0.5),
    fc.array(tie('json'), { maxLength: 4 }),
    fc.dictionary(phrase, tie('json'), { maxKeys: 5, noNullPrototype: true }).map((one) => JSON.parse(JSON.stringify(one)) as JsonObject)),
}));
const SOUGHT = ['jo', 'doe', 'mary', '42', 'y'.repeat(60)];
const erasures = fc.array(fc.subarray(SOUGHT, { minLength: 1, maxLength: 2 }), { minLength: 1, maxLength: 3 });

/** As several erasures leave it, one after the other, each by the product's own search. */
const afterAll = (value: JsonValue, texts: readonly string[][]) => texts.reduce((left, some) => eraseJson(left, textMatcher(some)), value);

/** Places of a value that are not the mark, each with something else there. */
function* others(value: JsonValue): Generator<JsonValue> {
  if (value !== ERASED) yield typeof value === 'string' ? `${value} ${ERASED}` : 'something else';
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    yield { ...value, more: ERASED };
    for (const [name, inner] of Object.entries(value)) for (const other of others(inner)) yield { ...value, [name]: other };
    for (const name of Object.keys(value)) yield Object.fromEntries(Object.entries(value).filter(([one]) => one !== name));
  }
  if (!Array.isArray(value)) return;
  yield [...value, ERASED];
  for (const [n, inner] of value.entries()) for (const other of others(inner)) yield value.with(n, other);
}

describe('whatever is erased', () => {
  it('agrees with what it was, as JSON, as words and as an output, also cut', () => {
    fc.assert(fc.property(json, erasures, (value, texts) => {
      const [before, after] = [jcs(value), jcs(afterAll(value, texts))];
      expect(agree(after, told(before))).toBe(true);
      expect(agree(after, summary(before))).toBe(true);
      const plain = typeof value === 'string' ? value : before;
      expect(agree(texts.reduce((left, some) => eraseText(left, textMatcher(some)), plain), words(plain))).toBe(true);
    }), { numRuns: 2_000 });
  });

  it('agrees with nothing else, wherever that is', () => {
    fc.assert(fc.property(json, erasures, (value, texts) => {
      const text = jcs(value);
      // Behind the cut of an output, nobody can tell.
      const before = [told(text), ...(text.length < 999 ? [summary(text)] : [])];
      const after = afterAll(value, texts);
      for (const other of others(after)) {
        const shown = jcs(other);
        if (shown !== jcs(after)) for (const one of before) expect([shown, agree(shown, one)]).toEqual([shown, false]);
      }
    }), { numRuns: 2_000 });
  });
});
