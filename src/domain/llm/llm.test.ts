import { describe, expect, it } from '@jest/globals';
import { DEFAULT_PII_SETTINGS } from '../pii/settings.js';
import { callDigest, estimateTokens, readModelCall } from './model-call.js';
import { providerOf, runs } from './model-provider.js';
import { AnswerTexts } from './streams/answer-texts.js';
import { eventText, type StreamEvent } from './streams/stream-event.js';
import { readAnswer } from '../pii/answers/answer-body.js';
import { streamReader } from './streams/stream-reader.js';

const messages = [{ role: 'user', content: 'x' }];

describe('what the gate decides over', () => {
  it.each([
    [{ model: 'm', messages }, { maxTokens: 4_096, stream: false, tools: 0, wantsUsage: false }],
    [{ model: 'm', messages, max_tokens: 9, max_completion_tokens: 1 }, { maxTokens: 9, stream: false, tools: 0 }],
    [{ model: 'm', messages, max_tokens: 5, max_completion_tokens: 7, n: 3, stream: true, tools: [{}, {}] },
      { maxTokens: 21, stream: true, tools: 2 }],
    [{ model: 'm', messages, stream: null, n: null, max_tokens: null, stream_options: { include_usage: true } },
      { maxTokens: 4_096, wantsUsage: true }],
  ])('is read from %j', (body, call) => {
    expect(readModelCall('openai', body)).toMatchObject({ call });
  });

  it('is bounded: what is no call is told by place', () => {
    const wrong = readModelCall('openai', { model: '', messages: [], stream: 1, max_tokens: 0.5, n: 129 });
    const pointers = 'errors' in wrong && wrong.errors.map(({ pointer }) => pointer);
    expect(pointers).toEqual(['/model', '/messages', '/stream', '/max_tokens', '/n']);
    // Anthropic's format has no choices.
    expect(readModelCall('anthropic', { model: 'm', messages, max_tokens: 9, n: 500 })).toMatchObject({ call: { maxTokens: 9 } });
  });

  it('reckons texts by their length, and an image as one', () => {
    expect(estimateTokens({ a: 'x'.repeat(8), b: ['x'.repeat(4)], c: 7 })).toBe(3);
    expect(estimateTokens({ image_url: { url: `data:image/png;base64,${'A'.repeat(100_000)}` } })).toBe(1_000);
    // Words count as words, whatever they are called.
    expect(estimateTokens({ data: 'a word '.repeat(1_000) })).toBe(1_750);
    expect(estimateTokens({ content: `data: ${'a word '.repeat(1_000)}` })).toBeGreaterThan(1_700);
    for (const text of [`data:text/plain;base64,${'abcdefgh'.repeat(1_000)}`, `data:image/png;base64,${'abcdefgh'.repeat(1_000)}`]) {
      expect(estimateTokens({ text })).toBeGreaterThan(2_000);
    }
    expect(estimateTokens({ url: `data:text/plain;base64,${'abcdefgh'.repeat(1_000)}` })).toBeGreaterThan(2_000);
    expect(estimateTokens('日本'.repeat(1_000))).toBe(1_500);
  });

  it('names the call by a digest that the nonce hides', () => {
    expect(callDigest('a', 'body')).toMatch(/^[\w-]{43}$/);
    expect(callDigest('b', 'body')).not.toBe(callDigest('a', 'body'));
  });
});

describe('patterns of models', () => {
  it.each([
    ['gpt-*', 'gpt-4o', true], ['gpt-*', 'my-gpt-4o', false], ['*', '', true], ['a*a', 'a', false],
    ['a*b*c', 'a-b-b-c', true], ['a*b*c', 'acb', false],
    ['exact', 'exact', true], ['exact', 'exactly', false], ['*latest', 'gpt-latest', true], ['a.c', 'abc', false],
  ])('%s stands for %s: %s', (pattern, model, fits) => {
    expect(runs([pattern], model)).toBe(fits);
  });

  it('are looked through in the operator’s order', () => {
    const [one, other] = [{ name: 'one', models: ['gpt-4*'] }, { name: 'other', models: ['gpt-*'] }];
    expect(['gpt-4o', 'gpt-5', 'x'].map((model) => providerOf([one, other], model))).toEqual([one, other, undefined]);
  });
});

describe('a stream', () => {
  const EMAIL = 'ada@example.com';
  const tokens = new Map([['<EMAIL_ADDRESS_1>', EMAIL]]);
  const settings = { ...DEFAULT_PII_SETTINGS, answers: 'off' as const };
  const openai = (choice: object, more = {}) =>
    ({ data: JSON.stringify({ choices: [{ index: 0, finish_reason: null, ...choice }], ...more }) });

  const through = (events: readonly StreamEvent[], family: 'openai' | 'anthropic', wantsUsage = false) => {
    const reader = streamReader(family, new AnswerTexts(settings, tokens), wantsUsage);
    const out = events.flatMap((event) => reader.read(event));
    return { out, text: [...out, ...(reader.ending ?? [])].map(eventText).join(''), facts: reader.facts(), ending: reader.ending };
  };

  it('gets values back wherever a token is cut, in the last chunk too, before its choice ends', () => {
    const said = 'to <EMAIL_ADDRESS_1>, not <EMAIL_ADDRESS_2>';
    for (let first = 0; first <= said.length; first++) {
      for (const second of [first, first + 3, said.length]) {
        const pieces = [said.slice(0, first), said.slice(first, second), said.slice(second)];
        const events = pieces.map((content, at) => openai({ delta: { content }, finish_reason: at === 2 ? 'stop' : null }));
        const { out } = through(events, 'openai');
        const choices = out.map(({ data }) =>
          (JSON.parse(data) as { choices: { delta: { content?: string }; finish_reason: string | null }[] }).choices[0]!);
        expect(choices.map(({ delta }) => delta.content ?? '').join('')).toBe(`to ${EMAIL}, not <EMAIL_ADDRESS_2>`);
        expect(choices.map(({ finish_reason: end }) => end).filter(Boolean)).toEqual(['stop']);
        expect(choices.at(-1)!.finish_reason).toBe('stop');
      }
    }
  });

  it('keeps nothing back of a choice that ends without saying so', () => {
    const { out, ending } = through([openai({ delta: { content: 'to <EMAIL_' } }, { id: 'c1' }), { data: '[DONE]' }], 'openai');
    expect(out.map(({ data }) => JSON.parse(data) as unknown)).toMatchObject([
      { id: 'c1', choices: [{ delta: { content: 'to ' } }] }, { id: 'c1', choices: [{ index: 0, delta: { content: '<EMAIL_' } }] },
    ]);
    expect(ending).toEqual([{ data: '[DONE]' }]);
  });

  it('reads lists that come whole each for itself', () => {
    const cited = (n: number) => ({ type: 'url_citation', url_citation: { url: `https://example.com/${n}`, title: '<EMAIL_ADDRESS_1>' } });
    const { out } = through([openai({ delta: { annotations: [cited(1), cited(2)] } })], 'openai');
    expect((JSON.parse(out[0]!.data) as { choices: { delta: { annotations: unknown } }[] }).choices[0]!.delta.annotations).toEqual(
      [1, 2].map((n) => ({ type: 'url_citation', url_citation: { url: `https://example.com/${n}`, title: EMAIL } })));
  });

  it('tells its usage, and hides it from a client that did not ask', () => {
    const events = [
      openai({ delta: { content: 'x' } }, { usage: null }),
      { data: '{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":4}}' }, { data: '[DONE]' },
    ];
    const hidden = through(events, 'openai');
    expect(hidden.facts.usage).toEqual({ promptTokens: 3, completionTokens: 4 });
    expect(hidden.text).not.toContain('usage');
    expect(through(events, 'openai', true).text).toContain('"prompt_tokens":3');
    expect(hidden.ending).toEqual([{ data: '[DONE]' }]);
  });

  it('of the other family tells what its later events have changed', () => {
    const events = [
      { type: 'message_start', message: { usage: { input_tokens: 5, cache_read_input_tokens: 2, output_tokens: 1 } } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'to <EMAIL_' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'ADDRESS_1' } },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'max_tokens' }, usage: { output_tokens: 9 } }, { type: 'message_stop' },
    ].map((data) => ({ event: data.type, data: JSON.stringify(data) }));
    const { facts, text } = through(events, 'anthropic');
    expect(facts).toEqual({ usage: { promptTokens: 7, completionTokens: 9 }, finishReason: 'max_tokens' });
    // A token that does not end is what it is.
    const deltas = [...text.matchAll(/"text":"([^"]*)"/g)].map(([, piece]) => piece).join('');
    expect(deltas).toBe('to <EMAIL_ADDRESS_1');
    expect(text.trimEnd().endsWith('data: {"type":"message_stop"}')).toBe(true);
  });

  it.each([
    ['redact', { answers: 'redact' }, new Map(), '<EMAIL_ADDRESS>', { EMAIL_ADDRESS: 5 }],
    ['report', { answers: 'report' }, new Map(), EMAIL, { EMAIL_ADDRESS: 5 }],
    ['give values back', { answers: 'off' }, tokens, 'bea@example.com', {}],
  ] as const)('of the other family: %s in what comes whole in an event, and leaves what is sealed', (_what, more, map, wanted, counts) => {
    const written = map.size > 0 ? '<EMAIL_ADDRESS_1>' : EMAIL;
    const values = new Map([...map.keys()].map((token) => [token, 'bea@example.com']));
    // A scan would take it for a secret.
    const sealed = 'sk_live_4eC39HqLyjWDarjtT1zdp7dc';
    const search = { type: 'web_search_result', url: 'https://example.com', title: written, encrypted_content: sealed, page_age: null };
    const events = [
      { type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: written, signature: sealed } },
      { type: 'content_block_start', index: 1, content_block: { type: 'web_search_tool_result', tool_use_id: 's', content: [search] } },
      { type: 'content_block_start', index: 2, content_block: { type: 'tool_use', id: 't', name: 'f', input: { to: written } } },
      { type: 'content_block_delta', index: 3,
        delta: { type: 'citations_delta', citation: { cited_text: written, encrypted_index: sealed } } },
      { type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature: sealed } },
      { type: 'message_delta', delta: { stop_reason: 'stop_sequence', stop_sequence: written }, usage: { output_tokens: 4 } },
    ];
    const texts = new AnswerTexts({ ...settings, ...more }, values);
    const reader = streamReader('anthropic', texts, true);
    const out = events.flatMap((data) => reader.read({ event: data.type, data: JSON.stringify(data) }));
    expect(out.map(({ data }) => data).join('\n')).toBe(events.map((data) => JSON.stringify(data)).join('\n').replaceAll(written, wanted));
    expect(texts.counts).toEqual(counts);
  });

  it('loses the probabilities of its words where they would be redacted, whole and streamed', () => {
    const logprobs = { content: [{ token: EMAIL, logprob: -1, bytes: null, top_logprobs: [] }] };
    const whole = { choices: [{ index: 0, message: { role: 'assistant', content: EMAIL }, logprobs }] };
    const read = (answers: 'redact' | 'report') => readAnswer(whole, 'openai', { ...settings, answers }, new Map());
    expect(JSON.stringify(read('redact').body)).not.toContain(EMAIL);
    expect(read('report')).toEqual({ body: whole, counts: { EMAIL_ADDRESS: 1 } });
    const reader = streamReader('openai', new AnswerTexts({ ...settings, answers: 'redact' }, new Map()), true);
    expect(JSON.stringify(reader.read(openai({ delta: { content: EMAIL }, logprobs })))).not.toContain(EMAIL);
  });

  it.each(['{', '[1]', '{"error":{"message":"no"}}'])('with %s in it is at fault', (data) => {
    expect(() => through([{ data }], 'openai')).toThrow();
  });
});
