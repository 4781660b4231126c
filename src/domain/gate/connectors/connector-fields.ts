import { isJsonObject, type JsonObject, type JsonValue } from '../../json.js';
import { placeholderProblem, placeholders } from '../connector-template.js';

/** Notes what is wrong with a member of a connector, by its pointer from the connector's root. */
export type Wrong = (pointer: string, message: string) => void;

export const CONNECTOR_DEFAULTS = { timeoutSeconds: 30, maxBytes: 256 * 1024, idempotent: false } as const;

/** What every connector says of its call. */
export interface CallBounds {
  /** Seconds until the call is given up, retries included. 1 to 120. */
  readonly timeoutSeconds: number;
}

/** What a connector by HTTP says of it besides. */
export interface HttpBounds extends CallBounds {
  /** The most bytes of an answer that are read. 1 to 256 KiB. */
  readonly maxBytes: number;
  /** Whether the receiver may be asked again with the same Idempotency-Key. */
  readonly idempotent: boolean;
}

// They frame the message or speak to the next hop; a template must not. The last ones the service sets itself.
const FORBIDDEN_HEADERS = new Set([
  'host', 'content-length', 'content-encoding', 'transfer-encoding', 'connection', 'keep-alive', 'te', 'trailer', 'upgrade',
  'expect', 'idempotency-key', 'traceparent',
]);
const HEADER_NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/;

/** Headers of a call; `check` says what is wrong with a value besides. */
export function checkHeaders(headers: JsonValue, wrong: Wrong, check?: (name: string, value: string) => string | undefined): void {
  if (!isJsonObject(headers)) return wrong('/headers', 'must be an object');
  const seen = new Set<string>();
  for (const [name, value] of Object.entries(headers)) {
    const lower = name.toLowerCase();
    const pointer = `/headers/${name}`;
    if (!HEADER_NAME.test(name)) wrong(pointer, 'is not a header name');
    else if (FORBIDDEN_HEADERS.has(lower) || lower.startsWith('proxy-')) wrong(pointer, 'is set by the service');
    else if (seen.has(lower)) wrong(pointer, 'is given twice');
    else if (typeof value !== 'string' || !/^[\t\x20-\x7e]*$/.test(value)) wrong(pointer, 'must be printable ASCII text');
    else {
      const problem = check?.(lower, value);
      if (problem !== undefined) wrong(pointer, problem);
      else checkTexts(value, pointer, wrong, true);
    }
    seen.add(lower);
  }
}

/** Templates within a JSON value. @param takesSecrets whether `{secrets.name}` may stand there */
export function checkTexts(value: JsonValue, pointer: string, wrong: Wrong, takesSecrets = false): void {
  if (typeof value === 'string') {
    const problem = placeholderProblem(value) ?? (takesSecrets ? undefined : secretProblem(value));
    if (problem) wrong(pointer, problem);
  } else if (Array.isArray(value)) value.forEach((element, index) => checkTexts(element, `${pointer}/${index}`, wrong, takesSecrets));
  else if (isJsonObject(value)) {
    for (const [name, content] of Object.entries(value)) {
      if (placeholders(name).length > 0 || placeholderProblem(name)) wrong(`${pointer}/${name}`, 'names of members are literal');
      checkTexts(content, `${pointer}/${name}`, wrong, takesSecrets);
    }
  }
}

/** Where a secret would end up in logs of others, or with somebody else. */
export function secretProblem(template: string): string | undefined {
  const names = placeholders(template).some(({ secret }) => secret !== undefined);
  return names ? 'must not hold a secret: {secrets.name} stands in values of headers and body alone' : undefined;
}

/** Whether an address has a literal origin, and is usable beyond it. @returns its path, where all is well so far */
export function checkAddress(url: string, wrong: Wrong): string | undefined {
  const match = /^(https?):\/\/([^/?#{}\\@\s]+)(\/[^?#]*)?(\?[^#]*)?$/i.exec(url);
  const refuse = (message: string): undefined => void wrong('/url', message);
  if (!match) return refuse('must be http or https with a literal host, without credentials or fragment');
  if (/[\u0000-\u0020\u007f\\]/.test(url)) return refuse('must not have blanks, control signs or backslashes');
  return match[3] ?? '';
}

export function checkHttpBounds(definition: JsonObject, wrong: Wrong): HttpBounds {
  const idempotent = definition.idempotent ?? CONNECTOR_DEFAULTS.idempotent;
  if (typeof idempotent !== 'boolean') wrong('/idempotent', 'must be true or false');
  return {
    timeoutSeconds: numberWithin(definition, 'timeoutSeconds', 1, 120, wrong),
    maxBytes: numberWithin(definition, 'maxBytes', 1, CONNECTOR_DEFAULTS.maxBytes, wrong),
    idempotent: idempotent as boolean,
  };
}

export function numberWithin(
  definition: JsonObject,
  member: 'timeoutSeconds' | 'maxBytes',
  min: number,
  max: number,
  wrong: Wrong,
): number {
  const value = definition[member] ?? CONNECTOR_DEFAULTS[member];
  if (Number.isInteger(value) && (value as number) >= min && (value as number) <= max) return value as number;
  wrong(`/${member}`, `must be a whole number from ${min} to ${max}`);
  return CONNECTOR_DEFAULTS[member];
}

/** Those members of an object that are there. */
export function present<Members extends object>(members: Members): Partial<Members> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Partial<Members>;
}
