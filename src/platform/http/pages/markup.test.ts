import { expect, test } from '@jest/globals';
import { html } from './markup.js';

test.each<[string, string]>([
  [html`<p>${'<script>alert("1")</script>'}</p>`.text, '<p>&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;</p>'],
  [html`<a href="${`"'&`}">`.text, '<a href="&quot;&#39;&amp;">'],
  [html`<p>${html`<b>${'<'}</b>`}</p>`.text, '<p><b>&lt;</b></p>'],
  [html`<ul>${['a', '&'].map((one) => html`<li>${one}</li>`)}</ul>`.text, '<ul><li>a</li><li>&amp;</li></ul>'],
  [html`${undefined}${false}${0}${''}`.text, '0'],
])('%s', (text, wanted) => {
  expect(text).toBe(wanted);
});
