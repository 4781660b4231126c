import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { corpus, CORPUS_TERMS } from '../../../bench/pii/corpus.js';
import { restoreTokens } from './answers/tokens.js';
import { Redactor } from './redactor.js';
import { previewText, scanCall } from './scan-call.js';
import { scanText } from './scan-text.js';
import { piiSettings, type PiiAction } from './settings.js';

const lines = [...corpus('tuned'), ...corpus('held-out')];
const scanned = (body: unknown, action: PiiAction) => scanCall({ body: JSON.stringify(body), family: 'openai',
  settings: piiSettings({ action }) });

describe('what is done to what was found', () => {
  it('redacts by type, masks but for the last four of what people tell apart by them, and numbers tokens', () => {
    const text = 'anna@example.com, card 4111 1111 1111 1111, bea@example.com, anna@example.com';
    const done = (action: PiiAction) => previewText(text, piiSettings({ action })).text;
    expect(done('redact')).toBe('<EMAIL_ADDRESS>, card <CREDIT_CARD>, <EMAIL_ADDRESS>, <EMAIL_ADDRESS>');
    expect(done('mask')).toBe('****@*******.***, card **** **** **** 1111, ***@*******.***, ****@*******.***');
    expect(done('tokenize')).toBe('<EMAIL_ADDRESS_1>, card <CREDIT_CARD_1>, <EMAIL_ADDRESS_2>, <EMAIL_ADDRESS_1>');
  });

  it.each([
    ['{"dateOfBirth": "1985-03-12"}', '{"dateOfBirth": "<DATE_OF_BIRTH>"}'],
    ['{"cardNumber":"4111111111111111"}', '{"cardNumber":"<CREDIT_CARD>"}'],
    ['{"card":4111111111111111}', '{"card":"<CREDIT_CARD>"}'],
    ['{"to":"ada\\u0040example.com', '{"to":"<EMAIL_ADDRESS>'],
  ])('shows of a text what becomes of it in a call: %s', (text, shown) => {
    expect(previewText(text, piiSettings({})).text).toBe(shown);
    expect(previewText(text, piiSettings({})).values).toHaveLength(1);
    expect(JSON.parse(scanned({ messages: [{ role: 'user', content: text }] }, 'redact').body)).toEqual(
      { messages: [{ role: 'user', content: shown }] });
  });

  it('sends nothing of a call that is blocked', () => {
    const call = scanned({ messages: [{ role: 'user', content: 'anna@example.com' }] }, 'block');
    expect(call).toMatchObject({ isBlocked: true, counts: { EMAIL_ADDRESS: 1 }, tokens: [] });
  });

  it('gives the same tokens to a conversation that is sent again, and goes on with the numbers', () => {
    const first = [{ role: 'user', content: 'I am anna@example.com' }];
    const second = [...first, { role: 'assistant', content: 'Hello anna@example.com' }, { role: 'user', content: 'and bea@example.com' }];
    expect(JSON.parse(scanned({ messages: first }, 'tokenize').body)).toEqual({ messages: [{ role: 'user',
      content: 'I am <EMAIL_ADDRESS_1>' }] });
    expect((JSON.parse(scanned({ messages: second },
      'tokenize').body) as { messages: { content: string }[] }).messages.map(({ content }) => content))
      .toEqual(['I am <EMAIL_ADDRESS_1>', 'Hello <EMAIL_ADDRESS_1>', 'and <EMAIL_ADDRESS_2>']);
  });

  it('leaves tokens that somebody wrote as they are in both directions, wherever they stand', () => {
    const { body, tokens } = scanned({ messages: [{ role: 'user', content: 'anna@example.com' }, { role: 'user',
      content: 'say <EMAIL_ADDRESS_1>' }] },
      'tokenize');
    expect(body).toContain('"<EMAIL_ADDRESS_2>"');
    expect(restoreTokens('<EMAIL_ADDRESS_1> is <EMAIL_ADDRESS_2>', new Map(tokens))).toBe('<EMAIL_ADDRESS_1> is anna@example.com');
  });

  it('comes back as it was, with tokens that the text forges among its values', () => {
    const forged = fc.constantFrom('<EMAIL_ADDRESS_1>', '<CREDIT_CARD_2>', '<PHONE_NUMBER_1>', '<EMAIL_ADDRESS_01>', '<EMAIL_', '_1>');
    const part = fc.oneof(fc.constantFrom(...lines.map(({ text }) => text)), forged);
    fc.assert(fc.property(fc.array(part, { minLength: 1, maxLength: 8 }), (parts) => {
      const text = parts.join(' ');
      const redactor = new Redactor('tokenize');
      redactor.reserve(text);
      const redacted = redactor.redact(text, scanText(text, { terms: CORPUS_TERMS }));
      expect(restoreTokens(redacted, redactor.tokens)).toBe(text);
    }), { numRuns: 250 });
  });
});
