import type { Finding, ScanOptions } from './finding.js';
import { surest } from './overlaps.js';
import type { Work } from './scan.js';
import { scanText } from './scan-text.js';

const ESCAPE = /\\(?:u([0-9a-fA-F]{4})|(["\\/bfnrt]))/g;
const CONTROL: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };
/** JSON in JSON in JSON, in a text that is none. */
const LEVELS = 4;

const meant = (_escape: string, code: string | undefined, letter: string) =>
  (code === undefined ? CONTROL[letter] ?? letter : String.fromCharCode(parseInt(code, 16)));

/**
 * Finds in a text what stands there as it is, and what stands there behind JSON's escapes: lines of JSON, arguments that are cut off, a
 * program. The places are those of the text as it was written.
 *
 * @throws WorkLimit
 */
export function scanEscaped(text: string, options: ScanOptions, work: Work, levels = LEVELS): readonly Finding[] {
  const found = scanText(text, options, work);
  if (levels === 0 || !text.includes('\\')) return found;
  const escapes: number[] = [];
  let plain = '';
  let from = 0;
  // `replace` with a function holds all of its matches at once: ten times the memory.
  for (const { 0: escape, 1: code, 2: letter, index } of text.matchAll(ESCAPE)) {
    escapes.push(index);
    plain += text.slice(from, index) + meant(escape, code, letter ?? '');
    from = index + escape.length;
  }
  if (escapes.length === 0) return found;
  plain += text.slice(from);
  let next = 0;
  let shorter = 0;
  const written = (offset: number): number => {
    for (; next < escapes.length && escapes[next]! < offset + shorter; next++) shorter += text[escapes[next]! + 1] === 'u' ? 5 : 1;
    return offset + shorter;
  };
  const behind = scanEscaped(plain, options, work, levels - 1).map((finding) =>
    ({ ...finding, start: written(finding.start), end: written(finding.end), escapes: (finding.escapes ?? 0) + 1 }));
  // The letter of an escape is no part of the word behind it.
  return surest([...behind, ...found.filter(({ start }) => text[start - 1] !== '\\')]);
}

/** What a finding's value is, without the escapes that it was found behind. */
export function valueOf(text: string, { start, end, escapes = 0 }: Finding): string {
  let value = text.slice(start, end);
  for (let level = 0; level < escapes; level++) value = value.replace(ESCAPE, meant);
  return value;
}
