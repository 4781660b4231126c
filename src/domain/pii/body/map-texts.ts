import { isJsonObject, readJson, type JsonObject, type JsonValue } from '../../json.js';
import { bytesIn, isUnread, SCHEMA_STRUCTURE, type Shape } from './structural-members.js';

/** A text of a body, and where it stands. */
export interface TextLocation {
  /** How many texts of the body came before it. */
  readonly ordinal: number;
  /** RFC 6901. Of a text in JSON that a member holds as a text, the pointer of that member. */
  readonly pointer: string;
  /** Name of the nearest member, whose words are context of the text; empty at the root. */
  readonly member: string;
  /** Whether it is a text, a number, or the name of a member. */
  readonly kind: 'text' | 'number' | 'name';
}

/** Answers the text itself, or what shall stand in its place. */
export type VisitText = (text: string, location: TextLocation) => string;

/** Numbers of fewer digits hold nothing that is looked for. */
const NUMBER_DIGITS_MIN = 7;

const IDENTIFIER = /^\w+$/;

/** What a name or an id may look like, an opaque signature included; a number is none. */
const NAME = /^(?!\d{7})[\w.:/+=-]*$/;

/** Bytes are no words, but a short run of them may be a secret. */
const BYTES_READ_MAX = 1_000;

const JSON_BEGIN = /^\s{0,64}[{["]/;

/** A JSON text's string literals and numbers; of well-formed JSON alone. Each alternative ends where the next character decides it. */
const JSON_TOKENS = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/gs;

/** What is no text, and how many of it there is. */
export interface MappedBody {
  readonly body: JsonValue;
  /** Images, sound, files, and what is not known to be text: left as they are. */
  readonly unscanned: number;
}

/** Shows every text of a body but those of structural members to `visit`, in the order of the body, and puts its answer in place. */
export function mapTexts(body: JsonValue, shape: Shape, visit: VisitText): MappedBody {
  const walk = new Walk(visit);
  return { body: walk.value(body, shape, '', ''), unscanned: walk.unscanned };
}

class Walk {
  unscanned = 0;
  private texts = 0;

  constructor(private readonly visitText: VisitText) {}

  private visit(text: string, location: Omit<TextLocation, 'ordinal'>): string {
    return this.visitText(text, { ...location, ordinal: this.texts++ });
  }

  value(value: JsonValue, shape: Shape, pointer: string, member: string): JsonValue {
    if (shape === 'skip') return value;
    if (typeof value === 'string') {
      return shape === 'keep' && NAME.test(value) ? value : this.text(value, { pointer, member, kind: 'text' });
    }
    if (typeof value === 'number') return shape === 'keep' ? value : this.number(value, pointer, member);
    if (Array.isArray(value)) return value.map((element, index) => this.value(element, shape, `${pointer}/${index}`, member));
    return isJsonObject(value) ? this.object(value, shape === 'keep' ? undefined : shape, pointer) : value;
  }

  /** A text that is JSON, or lines of it, is read as such, behind its escapes, wherever it stands. */
  private text(text: string, location: Omit<TextLocation, 'ordinal'>): string {
    if (JSON_BEGIN.test(text)) {
      if (readJson(text) !== undefined) return this.json(text, location);
      const lines = text.split('\n');
      const isLines = lines.length > 1 && lines.every((line) => line.trim() === '' || readJson(line) !== undefined);
      if (isLines) return lines.map((line) => this.text(line, location)).join('\n');
    }
    const bytes = bytesIn(text);
    if (bytes) this.unscanned++;
    return bytes === 'all' && text.length > BYTES_READ_MAX ? text : this.visit(text, location);
  }

  private object(object: JsonObject, shape: Shape, pointer: string): JsonObject {
    const mapped: JsonObject = {};
    const repeated = new Map<string, number>();
    const { unscanned } = this;
    for (const [name, value] of Object.entries(object)) {
      const at = `${pointer}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
      const shown = isRead(shape, name) ? this.visit(name, { pointer: at, member: name, kind: 'name' }) : name;
      mapped[freeName(mapped, shown, repeated)] = this.value(value, shapeOf(shape, name, value), at, name);
    }
    if (isUnread(object, shape)) this.unscanned = Math.max(this.unscanned, unscanned + 1);
    return mapped;
  }

  private number(value: number, pointer: string, member: string): JsonValue {
    const text = String(value);
    if (text.length < NUMBER_DIGITS_MIN) return value;
    const shown = this.visit(text, { pointer, member, kind: 'number' });
    return shown === text ? value : shown;
  }

  /** In place, so that whatever is not replaced stays as the caller wrote it: long numbers, blanks, members named twice. */
  private json(text: string, { pointer, member: around }: Omit<TextLocation, 'ordinal'>): string {
    let member = around;
    return text.replace(JSON_TOKENS, (token, at: number) => {
      if (!token.startsWith('"')) {
        if (token.length < NUMBER_DIGITS_MIN) return token;
        const shown = this.visit(token, { pointer, member, kind: 'number' });
        return shown === token ? token : JSON.stringify(shown);
      }
      const isName = /^\s{0,64}:/.test(text.slice(at + token.length, at + token.length + 65));
      const inner = JSON.parse(token) as string;
      if (isName) member = inner;
      const shown = isName ? this.visit(inner, { pointer, member, kind: 'name' }) : this.text(inner, { pointer, member, kind: 'text' });
      return shown === inner ? token : JSON.stringify(shown);
    });
  }
}

function shapeOf(shape: Shape, name: string, value: JsonValue): Shape {
  if (shape === 'schema') return isJsonObject(value) || !SCHEMA_STRUCTURE.has(name) ? 'schema' : 'keep';
  return typeof shape === 'object' && Object.hasOwn(shape, name) ? shape[name] : undefined;
}

/** Of the names of members: those outside of the format, and inside of it those that no format has. */
function isRead(shape: Shape, name: string): boolean {
  return shape === undefined || (!IDENTIFIER.test(name) && !(typeof shape === 'object' && Object.hasOwn(shape, name)));
}

/** Two names that became the same keep both of their values. */
function freeName(object: JsonObject, name: string, repeated: Map<string, number>): string {
  if (!Object.hasOwn(object, name)) return name;
  let number = (repeated.get(name) ?? 1) + 1;
  while (Object.hasOwn(object, `${name} ${number}`)) number++;
  repeated.set(name, number);
  return `${name} ${number}`;
}
