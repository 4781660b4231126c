import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { eraseJson } from '../erase-texts.js';
import type { JsonObject } from '../../json.js';
import { jcs } from '../jcs.js';
import { agree, brief, canonical, sketchOf } from './shown-text.js';

const object = fc.dictionary(fc.string({ unit: 'grapheme' }), fc.jsonValue(), { maxKeys: 8, noNullPrototype: true })
  .map((one) => JSON.parse(JSON.stringify(one)) as JsonObject);

describe('a text that is shown', () => {
  it.each<[string, string | null, Parameters<typeof agree>[1], boolean]>([
    ['the same', '{"a":1}', brief('{"a":1}'), true],
    ['another', '{"a":1}', brief('{"a":2}'), false],
    ['none, where there is none', null, null, true],
    ['one, where there is none', 'x', null, false],
    ['none, where there is one', null, brief('x'), false],
    ['of which nobody can tell', 'x', undefined, true],
    ['long', 'y'.repeat(500), brief('y'.repeat(500)), true],
    ['one that is the digest of what was told', brief('y'.repeat(500)), brief('y'.repeat(500)), false],
    ['erased here', '[erased]', sketchOf('a note', false), true],
    ['erased there', 'a note', sketchOf('[erased]', true), true],
    ['gone, and erased there', null, sketchOf('[erased]', true), true],
    ['"[erased]", and nothing was erased', '[erased]', brief('a note'), false],
    ['erased in part', '{"amount":5,"to":"[erased]"}', sketchOf('{"amount":5,"to":"jo"}', false), true],
    ['erased deep within', '{"amount":5,"to":["[erased]","x"]}', sketchOf('{"amount":5,"to":["jo","x"]}', false), true],
    ['erased in part, another beside it', '{"amount":9,"to":"[erased]"}', sketchOf('{"amount":5,"to":"jo"}', false), false],
    ['erased in part, one more beside it', '{"amount":5,"cc":"x","to":"[erased]"}', sketchOf('{"amount":5,"to":"jo"}', false), false],
    ['erased in part, one less beside it', '{"to":"[erased]"}', sketchOf('{"amount":5,"to":"jo"}', false), false],
    ['a name erased', '{"[erased]":1,"amount":5}', sketchOf('{"amount":5,"jo":1}', false), true],
    ['two names erased', '{"[erased]":1,"[erased] 2":[],"amount":5}', sketchOf('{"amount":5,"jo":1,"mary":2}', false), true],
    ['a name erased there', '{"amount":5,"jo":1}', sketchOf('{"[erased]":"[erased]","amount":5}', true), true],
    ['a name erased there, another beside it', '{"amount":6,"jo":1}', sketchOf('{"[erased]":"[erased]","amount":5}', true), false],
    ['a real "[erased]" there, another here', '{"to":"jo"}', sketchOf('{"to":"[erased]"}', false), false],
    ['no JSON', '{"to":', sketchOf('{"to":"jo"}', false), false],
  ])('%s', (_, shown, told, agrees) => expect(agree(shown, told)).toBe(agrees));

  it('agrees with what it was before anything was erased of it, and so the other way round', () => {
    fc.assert(fc.property(object, fc.string({ unit: 'grapheme', minLength: 1, maxLength: 2 }), (value, word) => {
      const [before, after] = [jcs(value), jcs(eraseJson(value, (text) => text.includes(word)))];
      expect(agree(after, sketchOf(before, false))).toBe(true);
      expect(agree(before, sketchOf(after, true))).toBe(true);
      expect(agree(before, brief(before))).toBe(true);
    }));
  });

  it('is never the reason why a verification breaks off', () => expect(canonical({ a: '\ud800' })).toBe('~{"a":"\\ud800"}'));
});
