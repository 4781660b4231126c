import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { HOSTILE_SHAPES } from '../../../bench/pii/hostile-texts.js';
import { corpus, CORPUS_TERMS } from '../../../bench/pii/corpus.js';
import { Redactor } from './redactor.js';
import { Work, WorkLimit } from './scan.js';
import { scanText } from './scan-text.js';

const shown = (text: string, options = {}) => scanText(text, options).map(({ type, start, end }) => `${type} ${text.slice(start, end)}`);
const lines = [...corpus('tuned'), ...corpus('held-out')];

describe('the scan of a text', () => {
  it('answers offsets in UTF-16 units, whatever stands before', () => {
    fc.assert(fc.property(fc.string({ unit: 'grapheme', maxLength: 20 }), fc.constantFrom(...lines), (before, { text }) => {
      // A sentence of its own, so that nothing before is context.
      const lead = `${before.replace(/[\p{L}\p{N}<]/gu, '🙂')} 🙂.\n\n\n${' '.repeat(64)}`;
      const moved = scanText(text).map((finding) => ({ ...finding, start: finding.start + lead.length, end: finding.end + lead.length }));
      expect(scanText(lead + text)).toEqual(moved);
    }), { numRuns: 200 });
  });

  it('gives what overlaps to the surest, and leaves no part of the others', () => {
    const text = 'password: anna@example.com!x9Q';
    expect(shown(text)).toEqual(['EMAIL_ADDRESS anna@example.com!x9Q']);
    expect(shown('postgres://app:s3cr3t@db.example.com/x')).toEqual(['URL postgres://app:s3cr3t@db.example.com/x']);
  });

  it('looks for the wanted types alone, and leaves what is allowed', () => {
    const text = 'anna@example.com, +49 30 901820, Help@Example.com';
    expect(shown(text, { entities: ['EMAIL_ADDRESS'], allow: ['help@example.com'] })).toEqual(['EMAIL_ADDRESS anna@example.com']);
  });

  it('finds an organization\'s own words as whole words, in any case and in scripts without blanks', () => {
    const terms = ['Blue Heron', '青鷺'];
    expect(shown('BLUE heron, blue herons, 計画青鷺です', { terms })).toEqual(['TERM BLUE heron', 'TERM 青鷺']);
  });

  it('takes the name of a member for context', () => {
    expect(shown('1985-03-12', { context: 'dateOfBirth' })).toEqual(['DATE_OF_BIRTH 1985-03-12']);
    expect(shown('1985-03-12', { context: 'created' })).toEqual([]);
    expect(shown('44051401359', { context: 'pesel' })).toEqual(['PL_PESEL 44051401359']);
  });

  it.each([
    ['_ada@example.com_ and __bea_x@example.com__, _cy@example.com', 'EMAIL_ADDRESS ada@example.com', 'EMAIL_ADDRESS bea_x@example.com',
      'EMAIL_ADDRESS _cy@example.com'],
    [`key svc_agent_${'0a1b2c3d'.repeat(8)}.`, `SECRET svc_agent_${'0a1b2c3d'.repeat(8)}`],
    ['cc=4111111111111111 cardNumber=5555555555554444', 'CREDIT_CARD 4111111111111111', 'CREDIT_CARD 5555555555554444'],
    ['card 4111–1111–1111–1111, 4111  1111  1111  1111', 'CREDIT_CARD 4111–1111–1111–1111', 'CREDIT_CARD 4111  1111  1111  1111'],
    ['<password>hunter22</password> <SECRET>hunter22 a password>hunter22', 'SECRET hunter22'],
  ])('reads values in their dress: %s', (text, ...found) => {
    expect(shown(text)).toEqual(found);
  });

  it.each(['密码', '密碼', '口令', '密钥', 'パスワード', '暗証番号', '비밀번호', '암호', 'पासवर्ड', 'كلمة المرور', 'סיסמה', 'รหัสผ่าน'])(
    'knows words for a secret in scripts without capitals: %s', (word) => {
      expect(shown(`${word}: Xk9$mQ2v`)).toEqual(['SECRET Xk9$mQ2v']);
    });

  it.each(['出生', '生年月日', '生日', '생년월일', '출생', '생일', 'जन्म', 'تاريخ الميلاد', 'วันเกิด'])('and for a birth: %s', (word) => {
    expect(shown(`${word}: 1985-03-12`)).toEqual(['DATE_OF_BIRTH 1985-03-12']);
  });

  it('reads the words of a name that marks join', () => {
    expect(shown('social_security_number: 511 94 7361')).toEqual(['US_SSN 511 94 7361']);
    expect(shown('order_number: 511 94 7361')).toEqual([]);
  });

  it('leaves nothing behind: what was found is in no redacted text, and nothing more is found in it', () => {
    const options = { terms: CORPUS_TERMS };
    fc.assert(fc.property(fc.array(fc.constantFrom(...lines), { minLength: 1, maxLength: 6 }), fc.constantFrom(' ', '\n', '; '), (some,
      joint) => {
      const text = some.map((line) => line.text).join(joint);
      const redacted = new Redactor('redact').redact(text, scanText(text, options));
      expect(shown(redacted, options)).toEqual([]);
    }), { numRuns: 250 });
  });

  it('takes work in proportion to the length, of texts that were made to take more', () => {
    for (const [name, shape] of Object.entries(HOSTILE_SHAPES)) {
      const [once, twice] = [16_384, 32_768].map((length) => {
        const work = new Work();
        scanText(shape(length), { terms: CORPUS_TERMS }, work);
        return work.units;
      });
      expect({ name, ratio: twice! / once! <= 2.2 }).toEqual({ name, ratio: true });
    }
  });

  it('gives a text up that takes more work than allowed', () => {
    expect(() => scanText('1234 '.repeat(10_000), {}, new Work(1_000))).toThrow(WorkLimit);
  });
});
