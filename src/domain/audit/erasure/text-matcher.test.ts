import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { pointerToken } from '../entry/json-pointer.js';
import { textMatcher } from './text-matcher.js';

describe('matching of texts', () => {
  const CASES: [wanted: string, text: string, found: boolean][] = [
    ['Anna', 'anna', true],
    ['Anna', 'for ANNA, today', true],
    ['Anna', 'Annabel', false],
    ['Anna', 'Hanna', false],
    ['Anna', 'Anna2', false],
    ['Anna', 'anna_smith', true],
    ['Anna', 'user-anna', true],
    ['Anna', 'Anna\u0301', false],
    ['Anna Müller', 'Frau anna  \n MÜLLER.', true],
    ['Anna Müller', 'Anna Mu\u0308ller', true],
    ['Anna Mu\u0308ller', 'Anna Müller', true],
    ['Anna Müller', 'Anna Müllerin', false],
    ['Straße', 'STRASSE 5', true],
    ['Οδυσσεύς', 'ΟΔΥΣΣΕΎΣ', true],
    ['李明', '李明 said', true],
    ['Jo', 'José', false],
    ['a.b', 'axb', false],
    ['(x) [y] $', 'the (x) [y] $ thing', true],
    ['a@example.org', 'A@Example.org', true],
    ['a@example.org', 'mailto:a@example.org?subject=x', true],
    ['a@example.org', 'Write to <a@example.org>.', true],
    ['a@example.org', 'da@example.org', false],
    ['a@example.org', 'd.a@example.org', false],
    ['a@example.org', 'd+a@example.org', false],
    ['a@example.org', 'a@example.org.uk', false],
    ['a@example.org', 'a@example.orgs', false],
    ['10.0.0.1', 'from 10.0.0.1:8080.', true],
    ['10.0.0.1', 'It was 10.0.0.1.', true],
    ['10.0.0.1', '10.0.0.12', false],
    ['10.0.0.1', '110.0.0.1', false],
    ['10.0.0.1', '9.10.0.0.1', false],
    ['10.0.0.1', '10.0.0.1.5', false],
    ['2001:db8::1', '[2001:DB8::1]:443', true],
    ['2001:db8::1', '2001:db8::1:2', false],
    ['2001:db8::1', '1:2001:db8::1', false],
    ['', 'anything', false],
    ['  ', 'any thing', false],
  ];
  it.each(CASES)('%j in %j: %j', (wanted, text, found) => {
    expect(textMatcher([wanted])(text)).toBe(found);
    expect(textMatcher(['nobody', wanted])(text)).toBe(found);
  });

  it('finds nothing when nothing is wanted', () => {
    expect(textMatcher([])('')).toBe(false);
  });
});

describe('what is escaped', () => {
  const CASES: [wanted: string, text: string, found: boolean][] = [
    ['anna@example.org', String.raw`{"text":"Sent to:\nanna@example.org"}`, true],
    ['anna@example.org', String.raw`{"text":"Sent to:\tanna@example.org\r\n"}`, true],
    ['Grace Hopper', String.raw`{"text":"for Grace\nHopper"}`, true],
    ['Grace Hopper', String.raw`{"text":"for Grace\r\n\tHopper"}`, true],
    ['Bob "Robbie" Smith', String.raw`{"text":"for Bob \"Robbie\" Smith"}`, true],
    ['CORP\\anna.smith', String.raw`{"text":"CORP\\anna.smith"}`, true],
    ['CORP\\nadine', String.raw`CORP\nadine`, true],
    ['Hopper/Grace', String.raw`{"text":"Hopper\/Grace"}`, true],
    ['Anna Müller', String.raw`{"name":"Anna M\u00fcller"}`, true],
    ['Anna Müller', String.raw`{"name":"\u0041nna\u0020M\u00FCller"}`, true],
    ['Anna 😀 Müller', String.raw`{"name":"Anna \ud83d\ude00 M\u00fcller"}`, true],
    ['Grace Hopper', String.raw`it says {\"to\":\"a\\nGrace\\nHopper\"}`, true],
    ['Grace Hopper', JSON.stringify(JSON.stringify(JSON.stringify(JSON.stringify('a\nGrace\nHopper')))), true],
    ['Grace Hopper', String.raw`Grace\nHoppers`, false],
    ['Grace Hopper', String.raw`Grace\\nHopper of no line`, true],
    ['Grace Hopper', String.raw`Grace\xHopper`, false],
    ['Grace Hopper', String.raw`Grace\u002Hopper`, false],
    ['Hopper/Grace', '/HOPPER~1GRACE', true],
    ['https://crm.example/anna', '/https:~1~1crm.example~1anna/0', true],
    ['~grace~hopper', '/~0grace~0hopper', true],
    ['grace~1hopper', '/grace~01hopper', true],
    ['grace~1hopper', 'grace~1hopper', true],
    ['Grace/Hopper', '/grace~2hopper', false],
    ['jo@example.org', '/cc~1jo@example.org', true],
    ['Hopper/Grace', String.raw`{"path":"\/HOPPER~1GRACE"}`, true],
    ['Grace Hopper', 'for grace hopper~', true],
    ['Grace Hopper', 'for grace hopper\\', true],
  ];
  it.each(CASES)('%j in %j: %j', (wanted, text, found) => {
    expect(textMatcher([wanted])(text)).toBe(found);
  });

  it('is found within JSON text of JSON text, and as part of a pointer, whatever it is', () => {
    fc.assert(fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), fc.integer({ min: 0, max: 4 }), (wanted, depth) => {
      let text = `(${wanted})`;
      for (let i = 0; i < depth; i++) text = JSON.stringify(text);
      const holds = textMatcher([wanted]);
      const isText = wanted.trim() !== '';
      expect(holds(text)).toBe(isText);
      expect(holds(`/a/${pointerToken(`(${wanted})`)}/0`)).toBe(isText);
    }));
  });

  it('is no way to keep a search busy', () => {
    const holds = textMatcher(['Grace Hopper']);
    for (const text of ['\\', '\\u005cu005c', '\\\\u005c', '~', '~0', '~1\\n']) {
      expect(holds(text.repeat(250_000 / text.length))).toBe(false);
    }
  });
});

describe('what is cut off', () => {
  const CASES: [wanted: string, text: string, found: boolean][] = [
    ['Grace Hopper-Murray', 'to Grace Hopper', true],
    ['Grace Hopper-Murray', 'to Grace Hopper-Mur', true],
    ['Grace Hopper-Murray', 'to Grace ', true],
    ['Grace Hopper-Murray', 'to Grace', true],
    ['Grace Hopper-Murray', 'to GRA', true],
    ['Grace Hopper-Murray', 'to Gr', false],
    ['Grace Hopper-Murray', 'to Graze', false],
    ['Grace Hopper-Murray', 'Grace Hopper said', false],
    ['Grace Hopper-Murray', 'disgrace', false],
    ['Grace Hopper-Murray', 'Grace Hopper-Murray', true],
    ['Jo Doe', 'to Jo', true],
    ['Jo Doe', 'to J', false],
    ['(x) [y] $', 'the (x) [', true],
    ['anna@example.org', 'to anna@exam', true],
    ['anna@example.org', 'to jo.anna@exam', false],
    ['anna@example.org', String.raw`to\nanna@exam`, true],
    ['Bob "Robbie" Smith', String.raw`for Bob \"Rob`, true],
    ['Bob "Robbie" Smith', 'for Bob \\', true],
    ['Bob "Robbie" Smith', 'for {\\"name\\":\\"Bob \\\\\\', true],
    ['Anna Müller', String.raw`for Anna M\u00f`, true],
    ['Hopper/Grace', '/HOPPER~', true],
    ['203.0.113.91', 'from 203.0.113', true],
    ['203.0.113.91', 'from 1.203.0.113', false],
  ];
  it.each(CASES)('%j at the end of %j: %j', (wanted, text, found) => {
    expect(textMatcher([wanted])(text, true)).toBe(found);
    expect(textMatcher(['nobody', wanted])(text, true)).toBe(found);
  });

  it('counts at the end of a text that is cut alone', () => {
    expect(textMatcher(['Grace Hopper-Murray'])('to Grace Hopper')).toBe(false);
    expect(textMatcher([])('to Grace', true)).toBe(false);
  });
});
