import { describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../json.js';
import { PIECE_MAX, splitEvent } from './split-event.js';

const long = Array.from({ length: 6_000 }, (_, index) => `word ${index}`).join(' ');
const readAll = (data: object) => splitEvent({ event: 'e', data: JSON.stringify(data) }).map(({ event, data: text }) => {
  expect(event).toBe('e');
  return JSON.parse(text) as JsonObject;
});

describe('an event with a long text', () => {
  it('is several with a piece of it each, of which the first begins the choice and the last ends it', () => {
    const call = { index: 0, id: 'call_1', type: 'function', function: { name: 'note', arguments: long } };
    const delta = { role: 'assistant', content: 'short', tool_calls: [call] };
    const choice = { index: 1, delta, logprobs: {}, finish_reason: 'tool_calls' };
    const pieces = readAll({ id: 'c', choices: [choice], usage: { prompt_tokens: 3 } });
    expect(pieces).toHaveLength(Math.ceil(long.length / PIECE_MAX));
    const deltas = pieces.map(({ choices }) => (choices as unknown as { delta: JsonObject }[])[0]!.delta);
    const calls = deltas.map(({ tool_calls: list }) => (list as unknown as (typeof call)[])[0]!);
    expect(calls.map((one) => one.function.arguments).join('')).toBe(long);
    expect(Math.max(...calls.map((one) => one.function.arguments.length))).toBe(PIECE_MAX);
    expect(pieces[0]).toMatchObject({ id: 'c', choices: [{ index: 1, finish_reason: null, delta: {
      role: 'assistant', content: 'short', tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: { name: 'note' } }],
    } }] });
    for (const later of deltas.slice(1)) expect(Object.keys(later)).toEqual(['tool_calls']);
    expect(pieces.map((piece) => 'usage' in piece)).toEqual(pieces.map((_, index) => index === pieces.length - 1));
    const last = { index: 1, finish_reason: 'tool_calls', logprobs: {} };
    expect(pieces.at(-1)).toMatchObject({ choices: [last], usage: { prompt_tokens: 3 } });
  });

  it('is so of the other family', () => {
    const pieces = readAll({ type: 'content_block_delta', index: 2, delta: { type: 'text_delta', text: long } });
    expect(pieces.map(({ delta }) => (delta as { text: string }).text).join('')).toBe(long);
    for (const piece of pieces) expect(piece).toMatchObject({ type: 'content_block_delta', index: 2, delta: { type: 'text_delta' } });
  });

  it('stays whole where its text is short, or no text of the model’s is long', () => {
    for (const data of [{ delta: { text: 'short' } }, { note: long, delta: { text: 'short' } }, { choices: [] }]) {
      expect(readAll(data)).toEqual([data]);
    }
    expect(splitEvent({ data: '[DONE]' })).toEqual([{ data: '[DONE]' }]);
    expect(() => splitEvent({ data: `{${long}` })).toThrow(SyntaxError);
  });
});
