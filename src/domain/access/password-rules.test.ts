import { describe, expect, test } from '@jest/globals';
import { dictionary } from '@zxcvbn-ts/language-common';
import { normalPassword, passwordRefusal, type PasswordOwner, type PasswordRefusal } from './password-rules.js';

const COMMON = new Set(dictionary['passwords-common']);
const ADA: PasswordOwner = { email: 'Ada.Byron@example.org', name: 'Ada Lovelace' };

describe('a password', () => {
  test.each<[string, PasswordOwner, PasswordRefusal | undefined]>([
    ['correct horse battery staple', ADA, undefined],
    ['hIUs-4Kd9-pqZ2', ADA, undefined],
    ['пароль из слов и пробелов', ADA, undefined],
    ['🐎🔋📎✅🐎🔋📎✅🌍🌎🌏🪐', ADA, undefined],
    ['elevenchars', ADA, 'too_short'],
    ['🐎🔋📎✅🌍🌎', ADA, 'too_short'],
    ['e\u0301'.repeat(6), ADA, 'too_short'],
    [`${'abcdef '.repeat(37)}`, ADA, 'too_long'],
    ['abcabcabcabcab', ADA, 'too_uniform'],
    ['AaAaBbBbCcCcDd', ADA, 'too_uniform'],
    ['\ud800 half a character', ADA, 'not_text'],
    ['with a line\nbreak in it', ADA, 'not_text'],
    ['with a nul \u0000 in it', ADA, 'not_text'],
    ['my ADA.BYRON password', ADA, 'about_oneself'],
    ['ada lovelace 1815', ADA, 'about_oneself'],
    ['AdaLovelace-1815', ADA, 'about_oneself'],
    ['countersign at work', ADA, 'about_oneself'],
    // Too short to be somebody's own.
    ['dandelion adagio', { email: 'ada@example.org', name: 'Ada' }, undefined],
    ['dandelion adagio', {}, undefined],
    ['password1234', ADA, 'common'],
    ['Password-2026', ADA, 'common'],
    ['!!!Sunshine!!!', ADA, 'common'],
    ['dragon123456', ADA, 'common'],
    ['1qaz2wsx3edc', ADA, 'common'],
    ['qwertyuiop123', ADA, 'common'],
    ['123456789012', ADA, 'common'],
    ['passwordpassword', ADA, 'common'],
    ['monkey1monkey1', ADA, 'common'],
    ['dragon 8347 2938 1029', ADA, undefined],
  ])('%j', (text, owner, wanted) => {
    expect(passwordRefusal(text, owner, COMMON)).toBe(wanted);
  });

  test('is the same however its characters are composed', () => {
    expect(normalPassword('cafe\u0301')).toBe(normalPassword('caf\u00e9'));
  });

  test('is compared with a list of what is common that is in the form in which it is looked up', () => {
    expect(COMMON.size).toBeGreaterThan(40_000);
    expect([...COMMON].filter((word) => word !== word.toLowerCase())).toEqual([]);
  });
});
