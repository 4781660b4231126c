import { isJsonObject, readJson, type JsonObject, type JsonValue } from '../../json.js';
import { bytesIn } from './base64-bytes.js';
import { JsonContext, within, withName, withText } from './json-context.js';
import { isUnread, maySeal, SCHEMA_STRUCTURE, type Shape } from './structural-members.js';

/** A text of a body, and where it stands. */
export interface TextLocation {
  /** How many texts of the body came before it. */
  readonly ordinal: number;
  /** RFC 6901. Of a text in JSON that a member holds as a text, the pointer of that member. */
  readonly pointer: string;
  /** Names of the members around it and short texts before it, outside of the format's own (`json-context.ts`). */
  readonly context: string;
  /** Whether it is a text, a number, or the name of a member. */
  readonly kind: 'text' | 'number' | 'name';
  /** Whether it is a name or an id that the format gives meaning to, and has the form of one. Default: false. */
  readonly isIdentifier?: boolean;
}

/** Answers the text itself, or what shall stand in its place. */
export type VisitText = (text: string, location: TextLocation) => string;

/** Numbers of fewer digits hold nothing that is looked for. */
const NUMBER_DIGITS_MIN = 7;

const IDENTIFIER = /^\w+$/;

/** What a name or an id may look like, an opaque signature included; a number is none. */
const NAME = /^(?!\d{7})[\w.:/+=-]*$/;

/** The context of an identifier: a card's number as an id needs no word near it. */
const CARD = 'card';

/** Bytes are no words, but a short run of them may be a secret. */
const BYTES_READ_MAX = 1_000;

const JSON_BEGIN = /^\s{0,64}[{["]/;

/** A JSON text's strings, numbers and marks; of well-formed JSON alone. Each alternative ends where the next character decides it. */
const JSON_TOKENS = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|[{}[\],]/gs;

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

  value(value: JsonValue, shape: Shape, pointer: string, context: string): JsonValue {
    if (shape === 'skip') return value;
    const isIdentifier = shape === 'keep';
    const said = isIdentifier ? CARD : context;
    if (typeof value === 'string') {
      if (!isIdentifier && shape !== 'sealed') return this.text(value, { pointer, context, kind: 'text' });
      if (!NAME.test(value)) return this.text(value, { pointer, context: said, kind: 'text' });
      return isIdentifier ? this.visit(value, { pointer, context: said, kind: 'text', isIdentifier }) : value;
    }
    if (typeof value === 'number') return this.number(value, { pointer, context: said, kind: 'number', isIdentifier });
    if (Array.isArray(value)) return this.array(value, shape, pointer, context);
    return isJsonObject(value) ? this.object(value, shape === 'keep' || shape === 'sealed' ? undefined : shape, pointer, context) : value;
  }

  private array(array: readonly JsonValue[], shape: Shape, pointer: string, context: string): JsonValue[] {
    let said = '';
    return array.map((element, index) => {
      const mapped = this.value(element, shape, `${pointer}/${index}`, within(context, said));
      if (typeof element === 'string' && shape !== 'keep') said = withText(said, element);
      return mapped;
    });
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

  private object(object: JsonObject, shape: Shape, pointer: string, context: string): JsonObject {
    const mapped: JsonObject = {};
    const repeated = new Map<string, number>();
    const { unscanned } = this;
    // The format's own names and texts say nothing of a value.
    const isFormat = typeof shape === 'object';
    let said = '';
    for (const [name, value] of Object.entries(object)) {
      const at = `${pointer}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
      const around = isFormat ? '' : within(context, said);
      const isKnown = isFormat && Object.hasOwn(shape, name);
      const isIdentifier = shape !== undefined && IDENTIFIER.test(name);
      const shown = isKnown ? name : this.visit(name, { pointer: at, context: isIdentifier ? CARD : around, kind: 'name',
        isIdentifier });
      const inner = shapeOf(shape, name, object);
      const own = isKnown ? '' : withName(around, name);
      mapped[freeName(mapped, shown, repeated)] = this.value(value, inner, at, own);
      if (typeof value === 'string' && inner !== 'keep') said = withText(said, value);
    }
    if (isUnread(object, shape)) this.unscanned = Math.max(this.unscanned, unscanned + 1);
    return mapped;
  }

  private number(value: number, location: Omit<TextLocation, 'ordinal'>): JsonValue {
    const text = String(value);
    if (text.length < NUMBER_DIGITS_MIN) return value;
    const shown = this.visit(text, location);
    return shown === text ? value : shown;
  }

  /** In place, so that whatever is not replaced stays as the caller wrote it: long numbers, blanks, members named twice. */
  private json(text: string, { pointer, context }: Omit<TextLocation, 'ordinal'>): string {
    const place = new JsonContext(context);
    return text.replace(JSON_TOKENS, (token, at: number) => {
      if (token === '{' || token === '[') place.open(token === '{');
      else if (token === '}' || token === ']') place.close();
      else if (token === ',') place.next();
      else if (token.startsWith('"')) return this.string(token, /^\s{0,64}:/.test(text.slice(at + token.length, at + token.length + 65)),
        pointer, place);
      else if (token.length >= NUMBER_DIGITS_MIN) {
        const shown = this.visit(token, { pointer, context: place.ofValue(), kind: 'number' });
        return shown === token ? token : JSON.stringify(shown);
      }
      return token;
    });
  }

  private string(token: string, isName: boolean, pointer: string, place: JsonContext): string {
    const inner = JSON.parse(token) as string;
    const shown = isName ? this.visit(inner, { pointer, context: place.ofName(), kind: 'name' }) :
      this.text(inner, { pointer, context: place.ofValue(), kind: 'text' });
    if (isName) place.name(inner);
    else place.text(inner);
    return shown === inner ? token : JSON.stringify(shown);
  }
}

function shapeOf(shape: Shape, name: string, object: JsonObject): Shape {
  if (shape === 'schema') return isJsonObject(object[name]) || !SCHEMA_STRUCTURE.has(name) ? 'schema' : 'keep';
  const inner = typeof shape === 'object' && Object.hasOwn(shape, name) ? shape[name] : undefined;
  return inner === 'sealed' && !maySeal(object, shape) ? 'keep' : inner;
}

/** Two names that became the same keep both of their values. */
function freeName(object: JsonObject, name: string, repeated: Map<string, number>): string {
  if (!Object.hasOwn(object, name)) return name;
  let number = (repeated.get(name) ?? 1) + 1;
  while (Object.hasOwn(object, `${name} ${number}`)) number++;
  repeated.set(name, number);
  return `${name} ${number}`;
}
