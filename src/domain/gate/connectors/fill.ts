import { isJsonObject, type JsonObject, type JsonValue } from '../../json.js';
import { placeholders, type Placeholder, secretsIn } from '../connector-template.js';

/** What fills a template. A secret without a value stays as it is written: the gate fills templates without any. */
export interface Values {
  readonly input: JsonObject;
  readonly secrets?: ReadonlyMap<string, string>;
}

/** A value that is missing, or that cannot stand where the template puts it. */
export class Unfit extends Error {
  constructor(
    readonly pointer: string,
    message: string,
  ) {
    super(message);
  }
}

/** A JSON template: a text that is exactly one placeholder takes the JSON value, others take text. */
export function fill(template: JsonValue, values: Values): JsonValue {
  if (typeof template === 'string') {
    const [only, more] = placeholders(template);
    if (only && !more && only.text === template) return valueAt(values, only);
    return interpolate(template, values, (text) => text);
  }
  if (Array.isArray(template)) return template.map((element) => fill(element, values));
  if (!isJsonObject(template)) return template;
  return Object.fromEntries(Object.entries(template).map(([name, value]) => [name, fill(value, values)]));
}

/** A text, in one pass: a value that looks like a placeholder stays a value. @param written how a value stands in it */
export function interpolate(
  template: string,
  values: Values,
  written: (text: string, at: Placeholder) => string,
  literal: (text: string) => string = (text) => text,
): string {
  let done = 0;
  let result = '';
  for (const placeholder of placeholders(template)) {
    result += literal(template.slice(done, placeholder.start)) + written(textAt(values, placeholder), placeholder);
    done = placeholder.start + placeholder.text.length;
  }
  return result + literal(template.slice(done));
}

const HEADER_MAX = 8 * 1024;
/** A secret of the greatest length has room in a header, with a word before it. */
const HEADER_WITH_SECRETS_MAX = 9 * 1024;

/** Headers by their names in lower case; none of a value's line breaks gets into one. */
export function fillHeaders(headers: Readonly<Record<string, string>>, values: Values): Record<string, string> {
  const filled: Record<string, string> = {};
  for (const [name, template] of Object.entries(headers)) {
    const value = interpolate(template, values, (text, at) => {
      if (!/^[\t\x20-\x7e]*$/.test(text)) throw new Unfit(at.pointer, 'may only have printable ASCII: it stands in a header');
      return text;
    });
    const longest = secretsIn(template).length > 0 ? HEADER_WITH_SECRETS_MAX : HEADER_MAX;
    if (value.length > longest) throw new Unfit('/input', `makes a header of more than ${longest / 1024} KiB`);
    filled[name.toLowerCase()] = value;
  }
  return filled;
}

function textAt(values: Values, placeholder: Placeholder): string {
  const value = valueAt(values, placeholder);
  if (value === null || typeof value === 'object') {
    throw new Unfit(placeholder.pointer, 'must be a text, a number or true or false: it stands inside a text');
  }
  return String(value);
}

function valueAt({ input, secrets }: Values, { path, pointer, secret, text }: Placeholder): JsonValue {
  if (secret !== undefined) return secrets?.get(secret) ?? text;
  let value: JsonValue = input;
  for (const name of path) {
    // Own members only: `{input.constructor}` must not reach the language's objects.
    const holder: JsonValue = value;
    const there: boolean = Array.isArray(holder) ? /^(0|[1-9]\d*)$/.test(name) && Number(name) < holder.length
      : isJsonObject(holder) && Object.hasOwn(holder, name);
    if (!there) throw new Unfit(pointer, 'is required by the connector');
    value = (holder as JsonObject)[name]!;
  }
  return value;
}
