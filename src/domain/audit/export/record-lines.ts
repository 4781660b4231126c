import type { JsonObject, JsonValue } from '../../json.js';
import { line, type LineOf } from './export-lines.js';
import { writableObject } from '../integrity/row-decoding.js';

/** A part of what one module holds of a person. A list of it may go on in the next part. */
export interface PersonalDataPart {
  readonly holder: string;
  readonly part: JsonObject;
}

/** A line is closed with the row that reaches one of these: whoever reads it has it in memory as a whole. */
const CHARACTERS = 256 * 1024;
const ROWS = 500;

/**
 * What modules hold of a person, in as many lines as it takes: a list goes on under the same names in the next one. Each list is
 * named once at least, so that an empty one is told.
 */
export async function* recordLines(records: AsyncIterable<PersonalDataPart>): AsyncGenerator<LineOf<'records'>> {
  const named = new Set<string>();
  let open = new OpenLine();
  for await (const { holder, part } of records) {
    open.of(holder);
    for (const [name, value] of Object.entries(writableObject(part))) {
      if (!Array.isArray(value)) {
        open.put(holder, name, value);
        continue;
      }
      const key = `${holder} ${name}`;
      if (!named.has(key)) open.put(holder, name, []);
      named.add(key);
      for (const row of value) {
        if (open.isFull) {
          yield open.line();
          open = new OpenLine();
        }
        open.add(holder, name, row);
      }
    }
  }
  yield open.line();
}

/** Records that fill up to a line. */
class OpenLine {
  private readonly records = new Map<string, Map<string, JsonValue | JsonValue[]>>();
  private characters = 0;
  private rows = 0;

  get isFull(): boolean {
    return this.characters >= CHARACTERS || this.rows >= ROWS;
  }

  of(holder: string): Map<string, JsonValue | JsonValue[]> {
    const own = this.records.get(holder) ?? new Map<string, JsonValue | JsonValue[]>();
    this.records.set(holder, own);
    return own;
  }

  put(holder: string, name: string, value: JsonValue): void {
    this.of(holder).set(name, value);
  }

  add(holder: string, name: string, row: JsonValue): void {
    const own = this.of(holder);
    const rows = own.get(name);
    if (Array.isArray(rows)) rows.push(row);
    else own.set(name, [row]);
    this.characters += JSON.stringify(row).length;
    this.rows++;
  }

  line(): LineOf<'records'> {
    return line('records', { records: Object.fromEntries([...this.records].map(([holder, own]) => [holder, Object.fromEntries(own)])) });
  }
}
