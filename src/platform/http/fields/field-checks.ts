import type { JsonValue } from '../../../domain/json.js';

export interface TextRule {
  max: number;
  min?: number;
  pattern?: RegExp | undefined;
  patternMeans?: string | undefined;
  singleLine?: boolean;
}

// C0 and C1 controls, and the two separators that count as line ends in Unicode.
const CONTROLS = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/;

/** Whether a value is a string of the right length (in code points, as PostgreSQL counts) and form. */
export function textIs(value: unknown, { max, min = 0, pattern, singleLine = false }: TextRule): value is string {
  if (typeof value !== 'string') return false;
  // No code point takes more than two units, which spares counting where the answer is plain.
  if (value.length > max && (value.length > 2 * max || codePoints(value) > max)) return false;
  if (min > 0 && (codePoints(value) < min || value.trim() === '')) return false;
  if (singleLine && CONTROLS.test(value)) return false;
  return pattern === undefined || pattern.test(value);
}

function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}

/** The rule in words, as the end of "must be …". */
export function expectedText({ max, min = 0, pattern, patternMeans, singleLine = false }: TextRule): string {
  if (patternMeans !== undefined) return patternMeans;
  const length = min > 0 ? `a string of ${min} to ${max} characters` : `a string of at most ${max} characters`;
  const line = singleLine ? `${length}, without line breaks` : length;
  return pattern === undefined ? line : `${line} that matches ${pattern.source}`;
}

export function boundedLength(value: unknown, min: number, max: number): value is JsonValue[] {
  return Array.isArray(value) && value.length >= min && value.length <= max;
}

/** Whether arrays and objects stand at most `maxDepth` deep in one another. `{}` alone is 1. */
export function isWithinDepth(value: JsonValue, maxDepth: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  if (maxDepth === 0) return false;
  const members = Array.isArray(value) ? value : Object.values(value);
  return members.every((member) => isWithinDepth(member, maxDepth - 1));
}
