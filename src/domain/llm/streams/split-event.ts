import { isJsonObject, type JsonObject, type JsonValue } from '../../json.js';
import type { StreamEvent } from './stream-event.js';

/** Texts are scanned in pieces of so many characters, each of which takes less than 20 ms, however it was made. */
export const PIECE_MAX = 16 * 1024;

/** Members of a delta that stand with each piece of its text. */
const WITH_EACH: ReadonlySet<string> = new Set(['type', 'index']);
/** Members of a choice or of a chunk that stand with the last piece alone. */
const WITH_LAST: ReadonlySet<string> = new Set(['finish_reason', 'usage', 'logprobs']);

/**
 * An event with a long text as several, each with a piece of it, as if the provider had sent it in these. Providers send words, so that
 * hardly any event is split.
 *
 * @throws SyntaxError where the event is no JSON
 */
export function splitEvent(event: StreamEvent): readonly StreamEvent[] {
  if (event.data.length <= PIECE_MAX) return [event];
  const data = JSON.parse(event.data) as JsonValue;
  const length = longest(data, false);
  if (length <= PIECE_MAX) return [event];
  const count = Math.ceil(length / PIECE_MAX);
  return Array.from({ length: count }, (_, number) => ({ ...event, data: JSON.stringify(new Piece(number, count).of(data, false)) }));
}

class Piece {
  constructor(private readonly number: number, private readonly count: number) {}

  of(value: JsonValue, isInDelta: boolean): JsonValue {
    if (typeof value === 'string') return isLong(value, isInDelta) ? this.cut(value) : value;
    if (Array.isArray(value)) return value.map((element) => this.of(element, isInDelta));
    return isJsonObject(value) ? this.members(value, isInDelta) : value;
  }

  private members(object: JsonObject, isInDelta: boolean): JsonObject {
    return Object.fromEntries(Object.entries(object).flatMap(([name, value]): [string, JsonValue][] => {
      if (!isInDelta && WITH_LAST.has(name) && this.number < this.count - 1) return name === 'usage' ? [] : [[name, null]];
      const isWithFirst = isInDelta && !WITH_EACH.has(name) && typeof value === 'string' && !isLong(value, true);
      return isWithFirst && this.number > 0 ? [] : [[name, this.of(value, isInDelta || name === 'delta')]];
    }));
  }

  private cut(text: string): string {
    return text.slice(this.number * PIECE_MAX, (this.number + 1) * PIECE_MAX);
  }
}

const isLong = (text: string, isInDelta: boolean): boolean => isInDelta && text.length > PIECE_MAX;

/** The length of the longest text of a delta. */
function longest(value: JsonValue, isInDelta: boolean): number {
  if (typeof value === 'string') return isInDelta ? value.length : 0;
  if (typeof value !== 'object' || value === null) return 0;
  const lengths = Object.entries(value).map(([name, member]) => longest(member as JsonValue, isInDelta || name === 'delta'));
  return lengths.reduce((most, length) => Math.max(most, length), 0);
}
