import { isJsonObject, readJson, type JsonObject, type JsonValue } from '../../json.js';
import { MEDIA_TYPES, SCHEMA_STRUCTURE, type Shape } from './structural-members.js';

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

/** A JSON text's string literals and numbers; of well-formed JSON alone. Each alternative ends where the next character decides it. */
const JSON_TOKENS = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/gs;

/** What is no text, and how many of it there is. */
export interface MappedBody {
  readonly body: JsonValue;
  /** Images, sound and files, which are left as they are. */
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
    if (shape === 'keep') return value;
    if (typeof value === 'string') return this.text(value, shape, pointer, member);
    if (typeof value === 'number') return shape === undefined ? this.number(value, pointer, member) : value;
    if (Array.isArray(value)) return value.map((element, index) => this.value(element, shape, `${pointer}/${index}`, member));
    if (!isJsonObject(value)) return value;
    const isMedia = typeof shape === 'object' && MEDIA_TYPES.has(value['type']);
    return isMedia ? this.media(value, pointer) : this.object(value, shape, pointer);
  }

  private text(text: string, shape: Shape, pointer: string, member: string): string {
    if (shape === 'json') return this.json(text, pointer);
    return shape === 'address' && text.startsWith('data:') ? text : this.visit(text, { pointer, member, kind: 'text' });
  }

  private object(object: JsonObject, shape: Shape, pointer: string): JsonObject {
    const mapped: JsonObject = {};
    const repeated = new Map<string, number>();
    for (const [name, value] of Object.entries(object)) {
      const at = `${pointer}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
      const shown = isRead(shape, name) ? this.visit(name, { pointer: at, member: name, kind: 'name' }) : name;
      mapped[freeName(mapped, shown, repeated)] = this.value(value, shapeOf(shape, name, value), at, name);
    }
    return mapped;
  }

  /** A part that is no text. Its title and address are read, its bytes are not; a document that is plain text is none of these. */
  private media(part: JsonObject, pointer: string): JsonObject {
    const source = part['source'];
    const isText = isJsonObject(source) && (source['type'] === 'text' || source['type'] === 'content');
    if (!isText) this.unscanned++;
    const bytes: Shape = isText ? { type: 'keep', media_type: 'keep' } : BYTES;
    return this.object(part, { type: 'keep', cache_control: 'keep', source: bytes, input_audio: BYTES, file: BYTES, image_url: BYTES },
      pointer);
  }

  private number(value: number, pointer: string, member: string): JsonValue {
    const text = String(value);
    if (text.length < NUMBER_DIGITS_MIN) return value;
    const shown = this.visit(text, { pointer, member, kind: 'number' });
    return shown === text ? value : shown;
  }

  /** In place, so that whatever is not replaced stays as the caller wrote it: long numbers, blanks, members named twice. */
  private json(text: string, pointer: string): string {
    if (readJson(text) === undefined) return this.visit(text, { pointer, member: '', kind: 'text' });
    let member = '';
    return text.replace(JSON_TOKENS, (token, at: number) => {
      if (!token.startsWith('"')) {
        if (token.length < NUMBER_DIGITS_MIN) return token;
        const shown = this.visit(token, { pointer, member, kind: 'number' });
        return shown === token ? token : JSON.stringify(shown);
      }
      const isName = /^\s{0,64}:/.test(text.slice(at + token.length, at + token.length + 65));
      const inner = JSON.parse(token) as string;
      if (isName) member = inner;
      const shown = this.visit(inner, { pointer, member, kind: isName ? 'name' : 'text' });
      return shown === inner ? token : JSON.stringify(shown);
    });
  }
}

const BYTES: Shape = {
  type: 'keep', media_type: 'keep', format: 'keep', detail: 'keep', data: 'keep', file_data: 'keep', file_id: 'keep', url: 'address',
};

function shapeOf(shape: Shape, name: string, value: JsonValue): Shape {
  if (shape === 'schema') return isJsonObject(value) || !SCHEMA_STRUCTURE.has(name) ? 'schema' : 'keep';
  return typeof shape === 'object' && Object.hasOwn(shape, name) ? shape[name] : undefined;
}

/** Of the names of members: those outside of the format, and inside of it those that no format has. */
function isRead(shape: Shape, name: string): boolean {
  return shape === undefined || (typeof shape === 'object' && !IDENTIFIER.test(name) && !Object.hasOwn(shape, name));
}

/** Two names that became the same keep both of their values. */
function freeName(object: JsonObject, name: string, repeated: Map<string, number>): string {
  if (!Object.hasOwn(object, name)) return name;
  let number = (repeated.get(name) ?? 1) + 1;
  while (Object.hasOwn(object, `${name} ${number}`)) number++;
  repeated.set(name, number);
  return `${name} ${number}`;
}
