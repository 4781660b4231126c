import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { RE2JS } from 're2js';
import { isJsonObject, type JsonObject, type JsonValue } from '../json.js';
import { BoundedCache } from './bounded-cache.js';

export interface InputError {
  /** RFC 6901 from the body's root, for instance `/input/to`. */
  readonly pointer: string;
  readonly message: string;
}

export type SchemaCheck = { readonly ok: true } | { readonly ok: false; readonly errors: readonly InputError[] };

export const SCHEMA_BYTES_MAX = 16 * 1024;
export const SCHEMA_DEPTH_MAX = 32;
/** Schemas visited for one value when every `$ref` is written out: references can double the work at each step. */
export const SCHEMA_EXPANDED_MAX = 5_000;
const UNIQUE_ITEMS_MAX = 1_000;
const PATTERN_SIZE_MAX = 200;
// Text units times instructions: some tens of milliseconds. What is larger does not match, so the input is refused.
const PATTERN_WORK_MAX = 16_000_000;

const FORMATS = ['date', 'time', 'date-time', 'duration', 'uri', 'email', 'hostname', 'ipv4', 'ipv6', 'uuid'] as const;
const REFUSED = ['$id', '$anchor', '$dynamicAnchor', '$dynamicRef', '$recursiveRef', '$recursiveAnchor', '$async', '$data'];

/** ajv's regular expressions by RE2: the platform's backtrack, and both patterns and texts come from outside. */
const re2 = Object.assign(
  (source: string) => {
    const compiled = RE2JS.compile(source);
    const size = compiled.programSize();
    if (size > PATTERN_SIZE_MAX) throw new Error('a pattern is too large');
    return {
      test: (text: string) => text.length * size <= PATTERN_WORK_MAX && compiled.test(text),
      // ajv distinguishes expressions by this text: without it all schemas would share the first one.
      toString: () => source,
    };
  },
  { code: 're2' },
);

// The first error only: collecting all of them makes the work, and the answer, grow with a hostile input.
const OPTIONS = {
  strict: true,
  strictTypes: false,
  strictRequired: false,
  strictTuples: false,
  allowUnionTypes: true,
  allErrors: false,
  // Or `required: ["constructor"]` is met by every object.
  ownProperties: true,
  addUsedSchema: false,
  logger: false,
  code: { regExp: re2 },
} as const;

// ajv keeps something of everything it ever compiled, so an instance is replaced before that matters.
const COMPILATIONS_PER_INSTANCE = 500;

function renewing(make: () => Ajv): () => Ajv {
  let current = prepared(make());
  let uses = 0;
  return () => {
    if (++uses > COMPILATIONS_PER_INSTANCE) [current, uses] = [prepared(make()), 1];
    return current;
  };
}

const draft07 = renewing(() => new Ajv(OPTIONS));
const draft2020 = renewing(() => new Ajv2020(OPTIONS));

function prepared(ajv: Ajv): Ajv {
  // The simple forms: the exact ones are long expressions for the platform's engine.
  formats.default(ajv, { mode: 'fast', formats: [...FORMATS] });
  // Annotations that documents of OpenAPI and tools of MCP bring along; they check nothing.
  ajv.addVocabulary(['example', 'x-mcp-header']);
  return ajv;
}

const compiledByText = new BoundedCache<string, ValidateFunction>(1_000);
const compiledByObject = new WeakMap<JsonObject, ValidateFunction>();

/**
 * Whether a JSON Schema may guard a capability: draft 2020-12 (or draft-07 where `$schema` says so), at most 16 KiB
 * and 32 levels, references within the schema and without recursion, patterns that RE2 knows.
 */
export function checkInputSchema(schema: JsonValue): SchemaCheck {
  const refuse = (pointer: string, message: string): SchemaCheck =>
    ({ ok: false, errors: [{ pointer: `/inputSchema${pointer}`, message }] });
  if (!isJsonObject(schema)) return refuse('', 'must be an object');
  if (Buffer.byteLength(JSON.stringify(schema)) > SCHEMA_BYTES_MAX) return refuse('', 'must have at most 16 KiB');
  const problem = structureProblem(schema, schema, '', 0);
  if (problem) return refuse(problem.pointer, problem.message);
  if (expandedSize(schema, schema, [], { left: SCHEMA_EXPANDED_MAX }) === undefined) {
    return refuse('', 'has references that are recursive, too many or to nothing');
  }
  const { type } = schema;
  if (type !== undefined && type !== 'object' && !(Array.isArray(type) && type.includes('object'))) {
    return refuse('/type', 'must be object: an input always is one');
  }
  try {
    compile(schema);
    return { ok: true };
  } catch (error) {
    return refuse('', `is not a valid JSON Schema: ${(error as Error).message.slice(0, 300)}`);
  }
}

/** What is wrong with an input, or nothing. The first error only; its pointer starts at `/input`. */
export function validateInput(schema: JsonObject, input: JsonObject): readonly InputError[] {
  try {
    const validate = compile(schema);
    if (validate(input)) return [];
    return (validate.errors ?? []).slice(0, 1).map(describe);
  } catch {
    // A schema that cannot be compiled or runs out of stack lets nothing through.
    return [{ pointer: '/input', message: 'cannot be checked: the capability has an unusable schema' }];
  }
}

function compile(schema: JsonObject): ValidateFunction {
  const known = compiledByObject.get(schema);
  if (known) return known;
  const validate = compiledByText.get(JSON.stringify(schema), () => {
    const dialect = typeof schema.$schema === 'string' && schema.$schema.includes('draft-07') ? draft07() : draft2020();
    const compiled = dialect.compile(schema);
    dialect.removeSchema(schema);
    return compiled;
  });
  compiledByObject.set(schema, validate);
  return validate;
}

// ajv's texts name the rule and never the value, but a schema's own names may be long.
function describe({ instancePath, keyword, params, message }: ErrorObject): InputError {
  const missing = keyword === 'required' ? `/${escapePointer(String(params['missingProperty']))}` : '';
  const extra = keyword === 'additionalProperties' ? `/${escapePointer(String(params['additionalProperty']))}` : '';
  const said = missing ? 'is required' : extra ? 'is not allowed' : (message ?? 'does not fit');
  return { pointer: `/input${instancePath}${missing}${extra}`.slice(0, 500), message: said.slice(0, 300) };
}

function escapePointer(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}

function structureProblem(value: JsonValue, root: JsonObject, pointer: string, depth: number): InputError | undefined {
  if (depth > SCHEMA_DEPTH_MAX) return { pointer, message: `must have at most ${SCHEMA_DEPTH_MAX} levels` };
  if (Array.isArray(value)) {
    return firstOf(value.entries(), ([index, element]) => structureProblem(element, root, `${pointer}/${index}`, depth + 1));
  }
  if (!isJsonObject(value)) return undefined;
  for (const keyword of REFUSED) {
    if (Object.hasOwn(value, keyword)) return { pointer: `${pointer}/${keyword}`, message: 'is not supported' };
  }
  if (typeof value.$ref === 'string' && !/^#(\/|$)/.test(value.$ref)) {
    return { pointer: `${pointer}/$ref`, message: 'must point into this schema (#/…): others are never fetched' };
  }
  if (value.uniqueItems === true && !(typeof value.maxItems === 'number' && value.maxItems <= UNIQUE_ITEMS_MAX)) {
    return { pointer: `${pointer}/uniqueItems`, message: `needs maxItems of at most ${UNIQUE_ITEMS_MAX} beside it` };
  }
  return firstOf(Object.entries(value), ([name, content]) =>
    structureProblem(content, root, `${pointer}/${escapePointer(name)}`, depth + 1));
}

function firstOf<T>(things: Iterable<T>, find: (thing: T) => InputError | undefined): InputError | undefined {
  for (const thing of things) {
    const found = find(thing);
    if (found) return found;
  }
  return undefined;
}

/** Nodes when references are written out; undefined when there is a cycle, a dead reference, or no end. */
function expandedSize(
  value: JsonValue,
  root: JsonObject,
  trail: readonly string[],
  budget: { left: number },
): number | undefined {
  if (--budget.left < 0) return undefined;
  if (value === null || typeof value !== 'object') return 1;
  let size = 1;
  const reference = isJsonObject(value) ? value.$ref : undefined;
  if (typeof reference === 'string') {
    const target = trail.includes(reference) ? undefined : resolve(root, reference);
    // A reference to a schema that holds it is a cycle, which shows when it comes round again.
    if (target === undefined || trail.length > SCHEMA_DEPTH_MAX) return undefined;
    const referred = expandedSize(target, root, [...trail, reference], budget);
    if (referred === undefined) return undefined;
    size += referred;
  }
  for (const part of Object.values(value)) {
    const inside = expandedSize(part, root, trail, budget);
    if (inside === undefined) return undefined;
    size += inside;
  }
  return size;
}

function resolve(root: JsonObject, reference: string): JsonValue | undefined {
  let target: JsonValue = root;
  for (const part of reference.slice(1).split('/').slice(1)) {
    const name = safeDecode(part).replaceAll('~1', '/').replaceAll('~0', '~');
    if (target === null || typeof target !== 'object' || !Object.hasOwn(target, name)) return undefined;
    target = (target as JsonObject)[name]!;
  }
  return target;
}

function safeDecode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
