import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import { ValidateBy, ValidateIf } from 'class-validator';
import { ANY_JSON } from './any-json.js';
import { isJsonObject } from '../../../domain/json.js';
import { declareField, spellings, type DtoClass, type FieldSpec } from './field-spec.js';
import type { NamedSchema } from './named-schema.js';
import { boundedLength, expectedText, isWithinDepth, textIs } from './field-checks.js';
import { parseDate, parseTimestamp } from './timestamps.js';

/** What every member may say. The names accepted are the property's and each alias's, in camelCase and snake_case. */
export interface FieldOptions {
  /** One sentence for the API's documentation. */
  doc: string;
  optional?: boolean;
  /** JSON null counts as absent. */
  nullable?: boolean;
  /** JSON null is a value of its own: it clears what is stored. */
  clearable?: boolean;
  aliases?: readonly string[];
  example?: unknown;
}

export interface TextOptions extends FieldOptions {
  /** Characters (code points). */
  max: number;
  /** Default 0. From 1 on, white space alone does not count. */
  min?: number;
  pattern?: RegExp;
  /** What the pattern means, as the end of "must be …". */
  patternMeans?: string;
  /** Refuses line breaks and other control characters. */
  singleLine?: boolean;
}

/** A string. */
export function Text(options: TextOptions): PropertyDecorator {
  const { max, min = 0, pattern } = options;
  return field(
    options,
    { expected: expectedText(options), accepts: (value) => textIs(value, options), fromText: (text) => text },
    { type: 'string', maxLength: max, ...(min > 0 ? { minLength: min } : {}), ...(pattern ? { pattern: pattern.source } : {}) },
  );
}

/** A whole number. */
export function Integer(options: FieldOptions & { min: number; max: number; default?: number }): PropertyDecorator {
  const { min, max } = options;
  return field(
    options,
    {
      expected: `a whole number from ${min} to ${max}`,
      accepts: (value) => Number.isSafeInteger(value) && (value as number) >= min && (value as number) <= max,
      fromText: (text) => (/^-?\d{1,16}$/.test(text) ? Number(text) : text),
    },
    { type: 'integer', minimum: min, maximum: max, ...(options.default === undefined ? {} : { default: options.default }) },
  );
}

/** A number, whole or not. */
export function Decimal(options: FieldOptions & { min: number; max: number }): PropertyDecorator {
  const { min, max } = options;
  return field(
    options,
    {
      expected: `a number from ${min} to ${max}`,
      accepts: (value) => typeof value === 'number' && value >= min && value <= max,
      fromText: (text) => (/^-?\d{1,16}(?:\.\d{1,16})?$/.test(text) ? Number(text) : text),
    },
    { type: 'number', minimum: min, maximum: max },
  );
}

/** true or false. */
export function Flag(options: FieldOptions): PropertyDecorator {
  return field(
    options,
    {
      expected: 'true or false',
      accepts: (value) => typeof value === 'boolean',
      fromText: (text) => (text === 'true' ? true : text === 'false' ? false : text),
    },
    { type: 'boolean' },
  );
}

/** One of a few words. `meaning` says in a refusal what they stand for; `named`: where the document explains them. */
export function OneOf(
  values: readonly string[], options: FieldOptions & { readonly meaning?: string; readonly named?: NamedSchema },
): PropertyDecorator {
  const { meaning } = options;
  return field(
    options,
    {
      expected: `one of: ${values.join(', ')}${meaning === undefined ? '' : ` (${meaning})`}`,
      accepts: (value) => typeof value === 'string' && values.includes(value),
      fromText: (text) => text,
    },
    options.named?.member ?? { type: 'string', enum: [...values] },
  );
}

/** An ISO 8601 date-time with zone, as a Date for the handler; with `date` also a bare date, read as that end of the day. */
export function Timestamp(options: FieldOptions & { date?: 'start' | 'end' }): PropertyDecorator {
  const { date } = options;
  const orDate = date === undefined ? '' : ', or a date, for example 2026-11-21';
  const parse = (text: string) => parseTimestamp(text) ?? (date === undefined ? undefined : parseDate(text, date));
  return field(
    options,
    {
      expected: `a date and time with its zone, for example 2026-11-21T09:30:00Z${orDate}`,
      accepts: (value) => typeof value === 'string' && parse(value) !== undefined,
      convert: (value) => parse(value as string),
      fromText: (text) => text,
    },
    { type: 'string', ...(date === undefined ? { format: 'date-time' } : {}) },
  );
}

/** A list of strings. In a query: one parameter, separated by commas. */
export function TextList(
  options: FieldOptions & { maxItems: number; minItems?: number; maxLength: number; pattern?: RegExp; patternMeans?: string },
): PropertyDecorator {
  const { maxItems, minItems = 0, maxLength } = options;
  const item = { min: 1, max: maxLength, pattern: options.pattern, patternMeans: options.patternMeans };
  return field(
    options,
    {
      expected: `a list of ${minItems} to ${maxItems} items, each ${expectedText(item)}`,
      accepts: (value) => boundedLength(value, minItems, maxItems) && value.every((text) => textIs(text, item)),
      fromText: (text) => text.split(','),
    },
    { type: 'array', items: { type: 'string', minLength: 1, maxLength }, minItems, maxItems },
  );
}

/**
 * An object of the caller's own making, handed on as the strict reader gave it: same object, no member lost or changed. `named`: where
 * the document explains an object that the domain judges by itself.
 */
export function FreeObject(options: FieldOptions & { maxDepth?: number; named?: NamedSchema }): PropertyDecorator {
  const { maxDepth, named } = options;
  return field(
    options,
    {
      expected: `an object${maxDepth === undefined ? '' : ` of at most ${maxDepth} levels`}`,
      accepts: (value) => isJsonObject(value) && (maxDepth === undefined || isWithinDepth(value, maxDepth)),
    },
    named?.member ?? { type: 'object', additionalProperties: true },
  );
}

/** Any JSON value, handed on as the strict reader gave it. */
export function FreeValue(options: FieldOptions): PropertyDecorator {
  return field(options, { expected: 'a JSON value', accepts: (value) => value !== undefined }, { ...ANY_JSON });
}

/** An object with members of its own. */
export function Nested(dto: () => DtoClass, options: FieldOptions): PropertyDecorator {
  return field(
    options,
    { expected: 'an object', accepts: isJsonObject, nested: { dto, list: false } },
    // Swagger knows a class that is still to be resolved by the function's name, which this spelling gives it.
    { type: () => dto() } as ApiPropertyOptions,
  );
}

/** A list of objects with members of their own. */
export function NestedList(
  dto: () => DtoClass,
  options: FieldOptions & { maxItems: number; minItems?: number },
): PropertyDecorator {
  const { maxItems, minItems = 0 } = options;
  return field(
    options,
    {
      expected: `a list of ${minItems} to ${maxItems} objects`,
      accepts: (value) => boundedLength(value, minItems, maxItems) && value.every(isJsonObject),
      nested: { dto, list: true },
    },
    { type: () => dto(), isArray: true, minItems, maxItems } as ApiPropertyOptions,
  );
}

/** A member that is planned, or that a caller may expect, and that nothing obeys yet: to ignore it would be a lie. */
export function NotYet(why: string, options: { aliases?: readonly string[] } = {}): PropertyDecorator {
  return (prototype, property) => {
    declareField(prototype, {
      property: String(property),
      names: spellings(String(property), options.aliases),
      optional: true,
      onNull: 'keep',
      expected: 'left out',
      accepts: () => false,
      notYet: why,
    });
  };
}

type Rule = Pick<FieldSpec, 'expected' | 'accepts' | 'convert' | 'fromText' | 'nested'>;

/** Declares a member three times at once, so that the three cannot differ: for reading, for class-validator, for OpenAPI. */
function field(options: FieldOptions, rule: Rule, schema: ApiPropertyOptions): PropertyDecorator {
  const { doc, optional = false, nullable = false, clearable = false, aliases, example } = options;
  return (prototype, property) => {
    const names = spellings(String(property), aliases);
    const onNull = clearable ? 'keep' : nullable ? 'leave' : 'refuse';
    const others = names.slice(1).map((name) => `\`${name}\``);
    const description = others.length === 0 ? doc : `${doc} Also accepted as ${others.join(', ')}.`;
    declareField(prototype, {
      property: String(property),
      names,
      optional: optional || nullable,
      onNull,
      document: { description, schema: schema as Record<string, unknown>, ...(example === undefined ? {} : { example }) },
      ...rule,
    });
    ValidateIf((_, value) => value !== undefined && !(value === null && onNull === 'keep'))(prototype, property);
    ValidateBy({
      name: 'field',
      validator: { validate: (value) => rule.accepts(value), defaultMessage: () => `must be ${rule.expected}` },
    })(prototype, property);
    ApiProperty({
      ...schema,
      required: !(optional || nullable),
      description,
      ...(nullable || clearable ? { nullable: true } : {}),
      ...(example === undefined ? {} : { example }),
    } as ApiPropertyOptions)(prototype, property);
  };
}
