import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { corpus, CORPUS_TERMS } from '../../../../bench/pii/corpus.js';
import { partOf, times } from '../../../../test/support/running/whole-form.js';
import { Redactor } from '../redactor.js';
import { scanText } from '../scan-text.js';
import { piiSettings } from '../settings.js';
import { readAnswer } from './answer-body.js';
import { RedactingJsonStream } from './redacting-json-stream.js';
import { HOLD_MAX, RedactingStream } from './redacting-stream.js';
import type { TextStream } from './text-stream.js';
import { TokenStream } from './token-stream.js';

const options = { terms: CORPUS_TERMS };
const lines = [...corpus('tuned'), ...corpus('held-out')].map(({ text }) => text);
const redacted = (text: string) => new Redactor('redact').redact(text, scanText(text, options));

function streamed(stream: TextStream, pieces: readonly string[]): string {
  return pieces.map((piece) => stream.push(piece)).join('') + stream.end();
}

function piecesOf(text: string, size: number): string[] {
  return Array.from({ length: Math.ceil(text.length / size) }, (_, index) => text.slice(index * size, (index + 1) * size));
}

describe('a streamed answer', () => {
  it('is redacted as if it had come whole, whatever the size of the pieces', () => {
    for (const [index, text] of partOf(lines, 4).entries()) {
      const size = [1, 2 + (index % 7), 16][index % 3]!;
      expect(streamed(new RedactingStream(options), piecesOf(text, size))).toBe(redacted(text));
    }
  });

  it('is redacted as if it had come whole, wherever it is cut once', () => {
    for (const text of partOf(lines.filter((_, index) => index % 12 === 0), 3)) {
      for (let cut = 1; cut < text.length; cut++) {
        expect(streamed(new RedactingStream(options), [text.slice(0, cut), text.slice(cut)])).toBe(redacted(text));
      }
    }
  });

  it('holds at most 256 characters back, and nothing of prose whose word has ended', () => {
    fc.assert(fc.property(fc.array(fc.constantFrom(...lines, 'a'.repeat(400), '1 '.repeat(300)), { minLength: 1, maxLength: 4 }),
      fc.integer({ min: 1, max: 40 }), (some, size) => {
        const stream = new RedactingStream();
        let [went, came] = [0, 0];
        // Placeholders are shorter than what they stand for, or longer: only texts without a finding tell what is held.
        const text = some.filter((one) => scanText(one).length === 0).join(' ');
        fc.pre(scanText(text).length === 0);
        for (const piece of piecesOf(text, size)) {
          came += piece.length;
          went += stream.push(piece).length;
          expect(came - went).toBeLessThanOrEqual(HOLD_MAX);
        }
      }));
    const stream = new RedactingStream();
    expect(stream.push('The answer is yes. ')).toBe('The answer is yes. ');
    expect(stream.push('Nothing here looks like a value, ')).toBe('Nothing here looks like a value, ');
  });

  it.each([
    ['{"to":"ada\\u0040example.com"} and "x\\nbea@example.com"', '{"to":"<EMAIL_ADDRESS>"} and "x\\n<EMAIL_ADDRESS>"'],
    ['{"to":"ada\\u0040example.com","b":"x', '{"to":"<EMAIL_ADDRESS>","b":"x'],
    ['mail("ada\\x40", "Hi\\nada@example.com")', 'mail("ada\\x40", "Hi\\n<EMAIL_ADDRESS>")'],
  ])('is read behind escapes, too, whole and in pieces: %s', (text, shown) => {
    const message = (said: string) => ({ choices: [{ message: { content: said, tool_calls: [{ function: { name: 'f', arguments: said } },
      { function: { name: 'g', arguments: JSON.stringify({ code: said }) } }] } }] });
    expect(readAnswer(message(text), 'openai', piiSettings({ answers: 'redact' }), new Map()).body).toEqual(message(shown));
    for (const size of [1, 2, 5, 100]) {
      expect(streamed(new RedactingStream(), piecesOf(text, size))).toBe(shown);
      expect(streamed(new RedactingJsonStream(), piecesOf(JSON.stringify({ code: text }), size))).toBe(JSON.stringify({ code: shown }));
    }
  });

  it('hides a value that is too long to be held, to its end', () => {
    const key = `-----BEGIN PRIVATE KEY-----\n${'QUJD'.repeat(400)}\n-----END PRIVATE KEY-----`;
    for (const size of [1, 7, 100, 3_000]) {
      expect(streamed(new RedactingStream(), piecesOf(`before ${key} after`, size))).toBe('before <SECRET> after');
    }
  });

  it('counts what the whole text holds', () => {
    const text = 'anna@example.com and bea@example.com, card 4111 1111 1111 1111.';
    const stream = new RedactingStream();
    streamed(stream, piecesOf(text, 3));
    expect(stream.counts).toEqual({ EMAIL_ADDRESS: 2, CREDIT_CARD: 1 });
  });
});

describe('the streamed arguments of a tool', () => {
  const texts = fc.oneof(fc.constantFrom(...lines), fc.string({ unit: 'grapheme' }));
  const values = fc.oneof(texts, fc.constantFrom(4111111111111111, 44051401359, 12, -1.5, true, null), fc.array(texts, { maxLength: 3 }));
  const names = fc.constantFrom('to', 'body', 'card', 'pesel', 'dateOfBirth', 'phone', 'note');
  const asAnswer = (json: string) => readAnswer({ choices: [{ message: { tool_calls: [{ function: { name: 'send',
    arguments: json } }] } }] },
    'openai', piiSettings({ answers: 'redact', terms: CORPUS_TERMS }), new Map());
  const argumentsOf = (body: unknown) => (body as { choices: { message: { tool_calls: { function: { arguments: string } }[] } }[] })
    .choices[0]!.message.tool_calls[0]!.function.arguments;

  it('are redacted like whole ones, escapes and numbers included, and stay JSON', () => {
    fc.assert(fc.property(fc.dictionary(names, values), fc.integer({ min: 1, max: 30 }), fc.boolean(), (object, size, isSpaced) => {
      const json = JSON.stringify(object, undefined, isSpaced ? 1 : 0);
      const stream = new RedactingJsonStream(options);
      const whole = asAnswer(json);
      expect(JSON.parse(streamed(stream, piecesOf(json, size)))).toEqual(JSON.parse(argumentsOf(whole.body)));
      expect(stream.counts).toEqual(whole.counts);
    }), { numRuns: times(150, 500) });
  });

  it('are read behind their escapes', () => {
    const json = '{"x":"Hi\\nanna\\u0040example.com","card":4111111111111111}';
    for (const size of [1, 2, 3, 100]) {
      expect(streamed(new RedactingJsonStream(), piecesOf(json, size))).toBe('{"x":"Hi\\n<EMAIL_ADDRESS>","card":"<CREDIT_CARD>"}');
    }
  });

  it('hold a secret that its name announces, in whatever script it is written', () => {
    for (const json of ['{"password":"AԱ!\\"x9漢字Z"}', '{"to":["DB_PASSWORD","A\u0300BԱ!\\""]}']) {
      const whole = argumentsOf(asAnswer(json).body);
      expect(whole).toContain('"<SECRET>"');
      for (const size of [1, 2, 5]) expect(streamed(new RedactingJsonStream(), piecesOf(json, size))).toBe(whole);
    }
  });

  it('go on as they came where they are no JSON', () => {
    for (const text of ['{"x":', 'yes, 12 of "them', '{"a\\', '1e9', '}}]]']) expect(streamed(new RedactingJsonStream(), piecesOf(text,
      1))).toBe(text);
  });
});

describe('tokens in a streamed answer', () => {
  const tokens = new Map([['<EMAIL_ADDRESS_1>', 'ann"a@example.com'], ['<EMAIL_ADDRESS_12>', 'Änne@例え.jp 🙂'], ['<PHONE_NUMBER_1>',
    '<EMAIL_ADDRESS_1>']]);
  const text = 'Näher <EMAIL_ADDRESS_1>🙂 <EMAIL_ADDRESS_12><PHONE_NUMBER_1> <EMAIL_ADDRESS_2> <EMAIL_ADDRESS_ ' +
    '<<EMAIL_ADDRESS_1> < ende <EMAIL';
  const whole = 'Näher ann"a@example.com🙂 Änne@例え.jp 🙂<EMAIL_ADDRESS_1> <EMAIL_ADDRESS_2> <EMAIL_ADDRESS_ ' +
    '<ann"a@example.com < ende <EMAIL';

  it('come back wherever the bytes are cut, in two pieces and in many', () => {
    const bytes = new TextEncoder().encode(text);
    const read = (cuts: readonly number[]) => {
      const decoder = new TextDecoder();
      const ends = [...cuts, bytes.length];
      return streamed(new TokenStream(tokens), ends.map((end, index) => decoder.decode(bytes.subarray(ends[index - 1] ?? 0, end),
        { stream: true })));
    };
    for (let first = 0; first <= bytes.length; first++) {
      for (let second = first; second <= bytes.length; second++) expect(read([first, second])).toBe(whole);
    }
    expect(read(Array.from(bytes.keys()))).toBe(whole);
  });

  it('come back in a tool\'s arguments as parts of JSON', () => {
    const json = JSON.stringify({ text });
    for (let cut = 0; cut <= json.length; cut++) {
      expect(JSON.parse(streamed(new TokenStream(tokens, 'json'), [json.slice(0, cut), json.slice(cut)]))).toEqual({ text: whole });
    }
    // As Go writes it; behind an escaped backslash no escape begins.
    for (const [mark, end] of [['\\u003c', '\\u003e'], ['\\u003C', '\\u003E']] as const) {
      const escaped = json.replaceAll('<', mark).replaceAll('>', end).replace('{"text":"', '{"text":"\\\\u003cEMAIL_ADDRESS_1> \\\\\\\\');
      for (let cut = 0; cut <= escaped.length; cut++) {
        const read = JSON.parse(streamed(new TokenStream(tokens, 'json'), [escaped.slice(0, cut), escaped.slice(cut)])) as { text: string };
        expect(read.text).toBe(`\\u003cEMAIL_ADDRESS_1> \\\\${whole}`);
      }
      expect(JSON.parse(streamed(new TokenStream(tokens, 'json'), [...escaped]))).toEqual({ text: `\\u003cEMAIL_ADDRESS_1> \\\\${whole}` });
    }
  });

  it('hold nothing back but the beginning of a known token', () => {
    const stream = new TokenStream(tokens);
    expect(stream.push('a < b <EMAIL_ADDRESS_3')).toBe('a < b <EMAIL_ADDRESS_3');
    expect(stream.push(' <EMAIL_ADDRESS_1')).toBe(' ');
    expect(stream.push('3>')).toBe('<EMAIL_ADDRESS_13>');
  });
});
