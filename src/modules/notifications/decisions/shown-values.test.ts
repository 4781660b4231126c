import { expect, test } from '@jest/globals';
import { durationOf, shownJsonValue, shownText } from './shown-values.js';

test.each([
  [0, 'less than a minute'], [59, 'less than a minute'], [60, '1 minute'], [3_599, '59 minutes'], [3_600, '1 hour'],
  [3_660, '1 hour 1 minute'], [86_399, '23 hours 59 minutes'], [86_400, '1 day'], [180_000, '2 days 2 hours'],
])('%d s are %s', (seconds, wanted) => expect(durationOf(seconds)).toBe(wanted));

test('a value is shown whole, each of its texts by itself, with every character', () => {
  const { text } = shownJsonValue({
    'a"b': ['<b>', '\u202egnp.exe', 'zero\u200bwidth', '\\"', 'two\nlines\u2028'], n: 1.5, none: null, empty: {},
  });
  expect(text.replaceAll(/<\/?(?:pre|bdi)[^>]*>/g, '')).toBe(`{
  &quot;a\\&quot;b&quot;: [
    &quot;&lt;b&gt;&quot;,
    &quot;⟦U+202E⟧gnp.exe&quot;,
    &quot;zero⟦U+200B⟧width&quot;,
    &quot;\\\\\\&quot;&quot;,
    &quot;two\\nlines⟦U+2028⟧&quot;
  ],
  &quot;n&quot;: 1.5,
  &quot;none&quot;: null,
  &quot;empty&quot;: {}
}
`);
  expect(text.match(/<bdi>/g)).toHaveLength(9);
});

test('a name stands in one line and is not cut', () => {
  expect(shownText(`a\nb${'x'.repeat(500)}`).text).toBe(`<bdi>a⟦U+000A⟧b${'x'.repeat(500)}</bdi>`);
});
