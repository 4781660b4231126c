import type { JsonObject, JsonValue } from '../../json.js';
import { line, type LineOf } from './export-lines.js';
import { writableObject } from '../integrity/row-decoding.js';

/** A part of one module's records of a person. A list of it may go on in the next part. */
export interface PersonalDataPart {
  readonly holder: string;
  readonly part: JsonObject;
}

/** A line is closed with the row that reaches one of these: its reader has it in memory as a whole. */
const CHARACTERS = 256 * 1024;
const ROWS = 500;

type Records = Record<string, Record<string, JsonValue>>;

/** The records of a person: a list goes on in the next line, and is named once at least, so that an empty one is visible. */
export async function* recordLines(records: AsyncIterable<PersonalDataPart>): AsyncGenerator<LineOf<'records'>> {
  const named = new Set<string>();
  let [open, characters, rows]: [Records, number, number] = [{}, 0, 0];
  for await (const { holder, part } of records) {
    open[holder] ??= {};
    for (const [name, value] of Object.entries(writableObject(part))) {
      if (!Array.isArray(value)) {
        put(open, holder, name, value);
        continue;
      }
      if (!named.has(`${holder} ${name}`)) put(open, holder, name, []);
      named.add(`${holder} ${name}`);
      for (const row of value) {
        if (characters >= CHARACTERS || rows >= ROWS) {
          yield line('records', { records: open });
          [open, characters, rows] = [{}, 0, 0];
        }
        add(open, holder, name, row);
        characters += JSON.stringify(row).length;
        rows++;
      }
    }
  }
  yield line('records', { records: open });
}

function put(records: Records, holder: string, name: string, value: JsonValue): void {
  records[holder] = { ...records[holder], [name]: value };
}

function add(records: Records, holder: string, name: string, row: JsonValue): void {
  const list = records[holder]?.[name];
  if (Array.isArray(list)) list.push(row);
  else put(records, holder, name, [row]);
}
