import { stripVTControlCharacters, styleText } from 'node:util';
import { oneLine } from '../../domain/notifications/plain-text.js';

type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan';

/** Columns that a cell takes at most. */
const WIDEST = 48;

/** Coloured where a person looks, and nothing against it is set (NO_COLOR). */
export function styled(style: Style, text: string): string {
  return process.stdout.isTTY && !process.env['NO_COLOR'] ? styleText(style, text, { validateStream: false }) : text;
}

export function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** One JSON object. What would drive a terminal or hide from a reader is written by its number; the value is the same one. */
export function printJson(value: unknown): void {
  print(JSON.stringify(value, null, 2).replace(HIDDEN_IN_JSON, (character) =>
    Array.from({ length: character.length }, (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`).join('')));
}

/** Line breaks are those between members: within texts they are escaped already. */
const HIDDEN_IN_JSON = /[^\P{Cc}\n]|[\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

/** A cell or a value that somebody else wrote: one line, every character visible. */
export const cellText = (text: string | undefined): string => (text === undefined || text === '' ? '–' : oneLine(text, WIDEST));

/** Columns under their names; in a pipe, too, so that what is shown is the same. Cells are made visible by who gives them. */
export function table(names: readonly string[], rows: readonly (readonly string[])[]): string {
  const width = (text: string) => [...stripVTControlCharacters(text)].length;
  const widths = names.map((name, at) => Math.max(width(name), ...rows.map((row) => width(row[at] ?? ''))));
  const line = (cells: readonly string[]) =>
    `  ${cells.map((cell, at) => cell + ' '.repeat(widths[at]! - width(cell))).join('  ')}`.trimEnd();
  return [styled('dim', line(names)), ...rows.map(line)].join('\n');
}

/** Names and values below each other. */
export function fields(pairs: readonly (readonly [name: string, value: string | undefined])[]): string {
  const given = pairs.filter(([, value]) => value !== undefined && value !== '');
  const width = Math.max(...given.map(([name]) => name.length));
  return given.map(([name, value]) => `  ${styled('dim', name.padEnd(width))}  ${value}`).join('\n');
}

/** A moment as people read it, in the zone of the machine, and how far from now. */
export function moment(iso: string): string {
  const at = new Date(iso);
  return `${at.toLocaleString('sv')} (${distance(at.getTime() - Date.now())})`;
}

/** How long until then, or since. @param ms below 0 for what is over */
export function distance(ms: number): string {
  const seconds = Math.abs(Math.round(ms / 1_000));
  const units = [['d', 86_400], ['h', 3_600], ['min', 60], ['s', 1]] as const;
  const [unit, size] = units.find(([, one]) => seconds >= one) ?? ['s', 1];
  const text = `${Math.floor(seconds / size)} ${unit}`;
  return ms < 0 ? `${text} ago` : `in ${text}`;
}
