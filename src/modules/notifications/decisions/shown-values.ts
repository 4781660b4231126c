import type { JsonValue } from '../../../domain/json.js';
import { oneLine, visible } from '../../../domain/notifications/plain-text.js';
import { html, type Markup } from '../../../platform/http/pages/markup.js';

const STRING = /"(?:[^"\\]|\\.)*"/g;
const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** A text of somebody's in a line of ours: every character can be seen, and it moves nothing beside it. */
export const shownText = (text: string): Markup => html`<bdi>${oneLine(text, Infinity)}</bdi>`;

/** The same over several lines. */
export const shownLines = (text: string): Markup => html`<p class="said"><bdi>${visible(text)}</bdi></p>
`;

/** A whole value as JSON, in which every character can be seen; texts that run from right to left move nothing beside them. */
export function shownJsonValue(value: JsonValue): Markup {
  const text = JSON.stringify(value, null, 2);
  const parts: Markup[] = [];
  let from = 0;
  for (const { 0: literal, index } of text.matchAll(STRING)) {
    parts.push(html`${text.slice(from, index)}<bdi>${visible(literal)}</bdi>`);
    from = index + literal.length;
  }
  return html`<pre class="payload" tabindex="0">${parts}${text.slice(from)}</pre>
`;
}

/** How long something takes, in the two largest units. @param seconds at least 0 */
export function durationOf(seconds: number): string {
  if (seconds < MINUTE) return 'less than a minute';
  if (seconds < HOUR) return counted(Math.floor(seconds / MINUTE), 'minute');
  if (seconds < DAY) return both(counted(Math.floor(seconds / HOUR), 'hour'), Math.floor((seconds % HOUR) / MINUTE), 'minute');
  return both(counted(Math.floor(seconds / DAY), 'day'), Math.floor((seconds % DAY) / HOUR), 'hour');
}

const counted = (count: number, unit: string): string => `${count} ${unit}${count === 1 ? '' : 's'}`;
const both = (large: string, count: number, unit: string): string => (count === 0 ? large : `${large} ${counted(count, unit)}`);
