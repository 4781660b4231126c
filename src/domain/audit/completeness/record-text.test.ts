import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { JsonObject, JsonValue } from '../../json.js';
import { jcs } from '../entry/jcs.js';
import type { Blanks, OpenEntry } from '../entry/open-entry.js';
import { outputSummary } from '../entry/output-summary.js';
import { ERASED } from '../entry/read-entry.js';
import { eraseJson, eraseText } from '../erasure/erase-texts.js';
import { textMatcher } from '../erasure/text-matcher.js';
import { brief, briefOfShown, holdsErasedMark, isSameText, type RecordedText, recordedTexts } from './record-text.js';

const LONG = 'y'.repeat(500);
const NOTHING_NAMED: Pick<Blanks, 'names' | 'nameless'> = { names: new Set(), nameless: new Set() };

/** What an entry with this member says of a text, where the row shows a certain one. */
function recorded(name: string, member: string, value: JsonValue, shown: string | null, blanks?: Blanks, kind = 'execution'): RecordedText {
  const erased = new Map(blanks ? [[member, blanks]] : []);
  const opened = { metadata: { [member]: value }, erased } as unknown as OpenEntry;
  const isErasedInRow = (_: string, text: string) =>
    shown !== null && holdsErasedMark(name, shown) && briefOfShown(kind, name, shown) !== text;
  return recordedTexts(opened, { [name]: member }, isErasedInRow)[name];
}

const agrees = (name: string, member: string, value: JsonValue, shown: string | null, blanks?: Blanks) =>
  isSameText('execution', name, shown, recorded(name, member, value, shown, blanks));
const input = (value: JsonObject, shown: string, blanks?: Blanks) => agrees('input', 'input', value, shown, blanks);
const note = (value: string, shown: string | null, blanks?: Blanks) => agrees('note', 'comment', value, shown, blanks);
const WHOLE: Blanks = { isWhole: true, ...NOTHING_NAMED };
const blanked = (names: readonly string[], nameless = 0): Blanks =>
  ({ isWhole: false, names: new Set(names), nameless: new Set(['[erased]', '[erased] 2'].slice(0, nameless)) });

describe('a text that a row shows', () => {
  it.each<[string, string | null, RecordedText, boolean]>([
    ['the same', '{"a":1}', brief('{"a":1}'), true],
    ['another', '{"a":1}', brief('{"a":2}'), false],
    ['none, where there is none', null, null, true],
    ['one, where there is none', 'x', null, false],
    ['none, where there is one', null, brief('x'), false],
    ['one that is erased in the entry', 'x', undefined, true],
    ['a long one', LONG, brief(LONG), true],
    ['one that is the digest of the entry\'s', brief(LONG), brief(LONG), false],
  ])('%s', (_, shown, text, agree) => expect(isSameText('execution', 'input', shown, text)).toBe(agree));

  it.each<[string, string, string | null, boolean]>([
    ['all of a note', 'a note', '[erased]', true],
    ['a part of a note', 'a note', 'a [erased]', false],
    ['another note with the mark', 'Never.', 'Gladly. [erased]', false],
    ['a note as JSON', 'a note', '"[erased]"', false],
    ['nothing of a note', 'a [erased] note', 'a [erased] note', true],
    ['a note that is gone', 'a note', null, false],
  ])('of which an erasure took %s', (_, value, shown, agree) => expect(note(value, shown)).toBe(agree));

  it.each<[string, JsonObject, string, boolean]>([
    ['a text', { amount: 5, to: 'jo' }, '{"amount":5,"to":"[erased]"}', true],
    ['a text deep within', { amount: 5, to: ['jo', 'x'] }, '{"amount":5,"to":["[erased]","x"]}', true],
    ['a number', { n: 88123456 }, '{"n":"[erased]"}', true],
    ['a text, another beside it', { amount: 5, to: 'jo' }, '{"amount":9,"to":"[erased]"}', false],
    ['a text, one more beside it', { amount: 5, to: 'jo' }, '{"amount":5,"cc":"x","to":"[erased]"}', false],
    ['one more', { amount: 5 }, '{"amount":5,"cc":"[erased]"}', false],
    ['a text, one less beside it', { amount: 5, to: 'jo' }, '{"to":"[erased]"}', false],
    ['a part of a text', { to: 'jo' }, '{"to":"mallory [erased]"}', false],
    ['a name', { amount: 5, jo: 1 }, '{"[erased]":1,"amount":5}', true],
    ['a name, with another value', { amount: 5, jo: 1 }, '{"[erased]":2,"amount":5}', false],
    ['a name of none', { amount: 5 }, '{"[erased]":1,"amount":5}', false],
    ['two names', { amount: 5, jo: 1, mary: [] }, '{"[erased]":[],"[erased] 2":1,"amount":5}', true],
    ['a name, and what stands under it', { jo: { a: 1, doe: 'x' } }, '{"[erased]":{"[erased]":"[erased]","a":1}}', true],
    ['a text, and another said twice', { sum: 5, to: 'jo' }, '{"to":"[erased]","sum":9,"sum":5}', false],
    ['a text beside a long one', { a: LONG, to: LONG }, `{"a":"${LONG}","to":"[erased]"}`, true],
    ['a text beside another long one', { a: LONG, to: 'jo' }, `{"a":"${LONG}z","to":"[erased]"}`, false],
    ['all of it', { to: 'jo' }, '"[erased]"', false],
  ])('of which an erasure took %s', (_, value, shown, agree) => expect(input(value, shown)).toBe(agree));

  it.each<[string, JsonObject, string, Blanks, boolean]>([
    ['all of it', {}, '{"a":1}', WHOLE, true],
    ['a value', { amount: 5, to: ERASED }, '{"amount":5,"to":{"a":[1]}}', blanked(['to']), true],
    ['a value, another beside it', { amount: 5, to: ERASED }, '{"amount":6,"to":"jo"}', blanked(['to']), false],
    ['a value, one more beside it', { amount: 5, to: ERASED }, '{"amount":5,"cc":1,"to":"jo"}', blanked(['to']), false],
    ['a value, and its name in the row', { amount: 5, to: ERASED }, '{"[erased]":[7],"amount":5}', blanked(['to']), true],
    ['a name', { [ERASED]: ERASED, amount: 5 }, '{"amount":5,"jo":1}', blanked([], 1), true],
    ['a name, and the row has two', { [ERASED]: ERASED, amount: 5 }, '{"amount":5,"jo":1,"mary":2}', blanked([], 1), false],
    ['a name, and the row has none', { [ERASED]: ERASED, amount: 5 }, '{"amount":5}', blanked([], 1), false],
    ['a name, another value beside it', { [ERASED]: ERASED, amount: 5 }, '{"amount":6,"jo":1}', blanked([], 1), false],
    ['a name, and one in the row', { [ERASED]: ERASED, amount: 5 }, '{"[erased]":1,"amount":5}', blanked([], 1), true],
    ['another value than in the row', { jo: 'z', sum: ERASED }, '{"[erased]":"[erased]","sum":"x"}', blanked(['sum']), true],
    ['a value, and a real mark deep within changed', { a: { b: ERASED }, to: ERASED }, '{"a":{"b":"x"},"to":"jo"}', blanked(['to']), false],
  ])('of whose entry an erasure took %s', (_, value, shown, blanks, agree) => expect(input(value, shown, blanks)).toBe(agree));

  it('is no reason why a verification ends, whatever somebody has put there', () => {
    for (const shown of [`${'['.repeat(20_000)}${']'.repeat(20_000)}`, '{"a":"\\ud800"}', '{"to":', '{"to":"[erased]"', '7']) {
      expect(input({ to: 'jo' }, shown)).toBe(false);
    }
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
const object = fc.dictionary(phrase, json, { maxKeys: 6, noNullPrototype: true })
  .map((one) => JSON.parse(JSON.stringify(one)) as JsonObject);
const matcher = fc.subarray(['jo', 'doe', 'mary', '42', 'y'.repeat(60)], { minLength: 1 }).map(textMatcher);

describe('what an erasure has left', () => {
  it('of an input, an error, an output and a note agrees with the entry', () => {
    fc.assert(fc.property(object, json, phrase, matcher, (asked, output, said, holds) => {
      expect(input(asked, jcs(eraseJson(asked, holds)))).toBe(true);
      expect(agrees('error', 'error', output, jcs(eraseJson(output, holds)))).toBe(true);
      expect(agrees('output', 'outputSummary', outputSummary(jcs(output)), jcs(eraseJson(output, holds)))).toBe(true);
      expect(note(said, eraseText(said, holds))).toBe(true);
    }), { numRuns: 150 });
  });

  it('of one member of an input hides no change of a member without a mark', () => {
    fc.assert(fc.property(object, matcher, fc.nat(), (asked, holds, n) => {
      const left = eraseJson(asked, holds) as JsonObject;
      const names = Object.keys(left).filter((name) => Object.hasOwn(asked, name) && !jcs(left[name]).includes(ERASED));
      const name = names[n % Math.max(1, names.length)];
      if (name === undefined || jcs(asked) === jcs(left)) return;
      expect(input(asked, jcs({ ...left, [name]: 'something else' }))).toBe(false);
    }), { numRuns: 150 });
  });
});
