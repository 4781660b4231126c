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
    expect(performance.now() - began).toBeLessThan(20_000);
  });
});
