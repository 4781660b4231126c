import { describe, expect, test } from '@jest/globals';
import { frameOf, isAfter, parsePosition, formatPosition } from './hitl-event.js';

const position = (text: string) => parsePosition(text, 'Last-Event-ID');

describe('positions of events', () => {
  test.each(['0.0', '1.0', '812.4711', '18446744073709551615.9223372036854775807'])('%s is one', (text) => {
    expect(formatPosition(position(text))).toBe(text);
  });

  test.each([
    '', '1', '.', '1.', '.1', '1.2.3', '-1.0', '1.-1', '01.0', '1.00', ' 1.0', '1.0\n', '1.0 ', '1e3.0', '0x1.0', '1,0', 'a.b', '１.０',
    '18446744073709551616.0', '1.9223372036854775808', '99999999999999999999999.0', `1.${'9'.repeat(400)}`, "1.0' or 1=1",
  ])('%j is none', (text) => {
    expect(() => position(text)).toThrow(expect.objectContaining({ code: 'VALIDATION_FAILED' }));
  });

  test.each([
    ['2.0', '1.9', true], ['1.2', '1.1', true], ['1.1', '1.1', false], ['1.9', '2.0', false], ['10.0', '9.0', true],
    ['18446744073709551615.1', '18446744073709551615.0', true],
  ])('%s after %s: %s', (one, other, after) => {
    expect(isAfter(position(one), position(other))).toBe(after);
  });

  test('an event is three lines and an empty one', () => {
    const frame = frameOf(position('7.3'), 'hitl.created', { text: 'a\nb\u2028' });
    expect(frame).toBe('id: 7.3\nevent: hitl.created\ndata: {"text":"a\\nb\u2028"}\n\n');
  });
});
