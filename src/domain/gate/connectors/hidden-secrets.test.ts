import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { HiddenSecrets } from './hidden-secrets.js';

const VALUE = 'k3y/+"\\ü %41 x=';
const cut = (text: string, ...values: string[]) => new HiddenSecrets(values.length > 0 ? values : [VALUE]).text(text);

describe('a secret is cut out of a text', () => {
  it.each<[string, string]>([
    ['as it is', VALUE],
    ['percent-encoded', encodeURIComponent(VALUE)],
    ['percent-encoded in lower case, every sign of it', Buffer.from(VALUE).toString('hex').replace(/../g, '%$&')],
    ['percent-encoded in part', VALUE.replaceAll('/', '%2f').replaceAll('%', '%25').replaceAll('%252f', '%2f')],
    ['escaped as in JSON', JSON.stringify(VALUE).slice(1, -1)],
    ['escaped as in JSON, with slashes', JSON.stringify(VALUE).slice(1, -1).replaceAll('/', '\\/')],
    ['escaped as in JSON, every sign of it', [...VALUE].map((sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')],
  ])('%s', (_name, form) => {
    expect(cut(`before ${form} and ${form}!`)).toBe('before [secret] and [secret]!');
  });

  const BLANKS = 'p@ss "w&rd" <x> with blanks, / slashes + plus';
  const json = (text: string, times: number): string => (times === 0 ? text : json(JSON.stringify(text).slice(1, -1), times - 1));
  const percent = (text: string, times: number): string => (times === 0 ? text : percent(encodeURIComponent(text), times - 1));
  it.each<[string, string]>([
    ['with + for blanks', BLANKS.replaceAll(' ', '+')],
    ['as a form has it', new URLSearchParams({ a: BLANKS }).toString().slice(2)],
    ['as a form within a form has it', encodeURIComponent(new URLSearchParams({ a: BLANKS }).toString().slice(2))],
    ['percent-encoded twice', percent(BLANKS, 2)],
    ['percent-encoded three times', percent(BLANKS, 3)],
    ['escaped twice', json(BLANKS, 2)],
    ['escaped three times', json(BLANKS, 3)],
    ['escaped, and then percent-encoded', percent(json(BLANKS, 1), 1)],
    ['percent-encoded, and then escaped with slashes', json(percent(BLANKS, 1), 1).replaceAll('%', '\\u0025')],
    ['escaped twice, and then percent-encoded', percent(json(BLANKS, 2), 1)],
    ['over two lines', BLANKS.replace('blanks', 'bla\r\n  nks')],
  ])('%s', (_name, form) => {
    expect(cut(`before ${form} and ${form}!`, BLANKS)).toBe('before [secret] and [secret]!');
    // What looks like one of the encodings is part of the secret as well.
    expect(cut(percent(json('a\\n%41\\u0041 b+', 1), 2), 'a\\n%41\\u0041 b+')).toBe('[secret]');
  });

  it.each([0, 1, 2, 3])('in base64 of several lines behind %i other bytes', (before) => {
    const value = 'a-secret-that-is-long-enough-for-more-than-one-line-of-base64/with~signs??>>'.repeat(3);
    const encoded = Buffer.from(`${'u'.repeat(before)}${value}:more`).toString('base64');
    for (const lineBreak of ['\r\n', '\n', '\n    ', '\\r\\n', '%0D%0A']) {
      const left = cut(`key: ${encoded.replace(/.{76}/g, `$&${lineBreak}`)}.`, value);
      expect(left).toMatch(/^key: .{0,5}\[secret\][^]{0,24}\.$/);
    }
  });

  it.each([0, 1, 2, 3])('in base64 behind %i other bytes, in both alphabets', (before) => {
    const value = 'a-secret-of-some-length/with~signs??>>';
    for (const alphabet of ['base64', 'base64url'] as const) {
      const encoded = Buffer.from(`${'u'.repeat(before)}${value}:more`).toString(alphabet);
      const left = cut(`Basic ${encoded}.`, value);
      expect(left).toContain('[secret]');
      // Whatever is left of it gives at most the rest of a sign away at either end.
      expect(left.replace('[secret]', '').length).toBeLessThan('Basic .'.length + 16);
    }
  });

  it('where several overlap, repeat and adjoin', () => {
    expect(cut('abababababababab', 'abababab')).toBe('[secret]');
    expect(cut('one-and-two one-and-two-more', 'one-and-two', 'and-two-more')).toBe('[secret] [secret]');
    expect(cut('nothing of it', 'something-else')).toBe('nothing of it');
    expect(new HiddenSecrets([]).text('x')).toBe('x');
  });

  it('in members, their names, and numbers, and nothing else changes', () => {
    const hidden = new HiddenSecrets(['12345678', 'to-be-hidden']);
    expect(hidden.json({ a: [1, 12345678, 'x to-be-hidden', null, true], 'to-be-hidden': { n: -12345678.5 } }))
      .toEqual({ a: [1, '[secret]', 'x [secret]', null, true], '[secret]': { n: '-[secret].5' } });
    const other = { a: [1, 'b'], c: { d: null } };
    expect(hidden.json(other)).toEqual(other);
  });

  it('whatever the secret and what stands around it', () => {
    const value = fc.string({ unit: 'grapheme', minLength: 8, maxLength: 40 })
      .filter((text) => Buffer.from(text).toString() === text && !text.includes('[secret]'));
    fc.assert(fc.property(value, fc.string(), fc.string(), (secret, before, after) => {
      for (const form of [secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1)]) {
        expect(cut(`${before}${form}${after}`, secret).includes(form) && !`${before}${after}`.includes(form)).toBe(false);
      }
    }), { numRuns: 300 });
  });

  it('in time that grows with the text alone, also for what repeats itself', () => {
    const began = performance.now();
    const secret = `${'\\"'.repeat(4_000)}x`;
    cut('\\\\\\"'.repeat(64_000), secret);
    cut('a'.repeat(256_000), `${'a'.repeat(8_000)}b`);
    cut('%255c%255cn\\n\\\\u0025\n '.repeat(16_000), secret);
    cut('a'.repeat(1_000_000), 'aaaaaaaa');
    expect(performance.now() - began).toBeLessThan(20_000);
  });

  it('and with it all of a text that is longer than any answer', () => {
    expect(cut(`${'x'.repeat(10_000_000)}${VALUE}`)).toBe('[secret]');
  });
});
