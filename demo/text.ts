import { stripVTControlCharacters } from 'node:util';

/** Columns that a text takes; the demo writes no wide characters. */
export function visibleWidth(text: string): number {
  return [...stripVTControlCharacters(text)].length;
}

/** Breaks plain text at spaces, and a word that is longer than the width within itself. */
export function wrap(text: string, width: number): string[] {
  const rows: string[] = [];
  for (const paragraph of text.split('\n')) {
    let row = '';
    for (const word of paragraph.split(' ')) {
      const joined = row === '' ? word : `${row} ${word}`;
      if (visibleWidth(joined) <= width) {
        row = joined;
        continue;
      }
      if (row !== '') rows.push(row);
      row = word;
      for (; visibleWidth(row) > width; row = [...row].slice(width).join('')) rows.push([...row].slice(0, width).join(''));
    }
    rows.push(row);
  }
  return rows;
}

/** Rows in a frame; they may be coloured, and must fit into `width - 4`. */
export function boxed(title: string, rows: readonly string[], width: number, paint: (edge: string) => string): string[] {
  const inner = width - 4;
  const top = `─ ${title} ${'─'.repeat(Math.max(0, width - 5 - visibleWidth(title)))}`;
  return [
    paint(`╭${top}╮`),
    ...rows.map((row) => `${paint('│')} ${row}${' '.repeat(Math.max(0, inner - visibleWidth(row)))} ${paint('│')}`),
    paint(`╰${'─'.repeat(width - 2)}╯`),
  ];
}

/**
 * What comes from elsewhere, made safe to show: control characters would drive the terminal, and marks of direction
 * would let one text look like another to the person who approves it.
 */
export function plain(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (sign) => `\\u{${sign.codePointAt(0)!.toString(16)}}`);
}

/** Seconds as a clock shows them: `4:59`. */
export function clock(seconds: number): string {
  const whole = Math.max(0, Math.ceil(seconds));
  const [hours, minutes] = [Math.floor(whole / 3_600), Math.floor(whole / 60) % 60];
  const tail = String(whole % 60).padStart(2, '0');
  return hours > 0 ? `${hours}:${String(minutes).padStart(2, '0')}:${tail}` : `${minutes}:${tail}`;
}
