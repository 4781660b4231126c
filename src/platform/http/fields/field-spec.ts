/** What a member decorator knows about its member; `readMembers` obeys it. */
export interface FieldSpec {
  readonly property: string;
  /** Every name that a caller may use, the documented one first. */
  readonly names: readonly string[];
  readonly optional: boolean;
  /** `leave`: JSON null is as if the member were absent. `keep`: null is a value, it clears. `refuse`: null is an error. */
  readonly onNull: 'refuse' | 'leave' | 'keep';
  /** What the member must be, as the end of a sentence: "must be …". */
  readonly expected: string;
  /** Whether a value that is there is acceptable. The members of nested objects are judged by their own DTO. */
  readonly accepts: (value: unknown) => boolean;
  /** An accepted value as the handler gets it. */
  readonly convert?: (value: unknown) => unknown;
  /** A query parameter's text as the value that `accepts` judges; a text that stands for none is returned as it is. */
  readonly fromText?: (text: string) => unknown;
  /** The DTO of a nested object, or of each item. */
  readonly nested?: { readonly dto: () => DtoClass; readonly list: boolean };
  /** Set when nothing obeys the member yet: its presence is refused with this reason. */
  readonly notYet?: string;
  /** As the API's documentation shows it; a member without it is not shown. */
  readonly document?: FieldDocument;
}

export interface FieldDocument {
  readonly description: string;
  readonly schema: Readonly<Record<string, unknown>>;
  readonly example?: unknown;
}

/** A class whose members carry the decorators of fields.ts. */
export type DtoClass<T extends object = object> = new () => T;

const declared = new WeakMap<object, FieldSpec[]>();
const named = new WeakMap<DtoClass, ReadonlyMap<string, FieldSpec>>();
const listed = new WeakMap<DtoClass, readonly FieldSpec[]>();

/** Called by the member decorators, with the class's prototype. */
export function declareField(prototype: object, spec: FieldSpec): void {
  const own = declared.get(prototype) ?? [];
  own.push(spec);
  declared.set(prototype, own);
}

/** The members of a DTO, inherited ones first. */
export function fieldsOf(dto: DtoClass): readonly FieldSpec[] {
  const known = listed.get(dto);
  if (known !== undefined) return known;
  const fields = [...new Set(fieldsByName(dto).values())];
  listed.set(dto, fields);
  return fields;
}

/**
 * The members of a DTO by each name that a caller may use.
 * @throws Error when two members answer to one name: a mistake in the class, found when its first route is declared.
 */
export function fieldsByName(dto: DtoClass): ReadonlyMap<string, FieldSpec> {
  const known = named.get(dto);
  if (known !== undefined) return known;
  const fields = new Map<string, FieldSpec>();
  for (const prototype of lineage(dto.prototype as object)) {
    for (const spec of declared.get(prototype) ?? []) fields.set(spec.property, spec);
  }
  const byName = new Map<string, FieldSpec>();
  for (const field of fields.values()) {
    for (const name of field.names) {
      const other = byName.get(name);
      if (other !== undefined) throw new Error(`${dto.name}: "${name}" would mean ${other.property} and ${field.property}`);
      byName.set(name, field);
    }
  }
  named.set(dto, byName);
  return byName;
}

function lineage(prototype: object): object[] {
  const chain: object[] = [];
  let at: object | null = prototype;
  while (at !== null && at !== Object.prototype) {
    chain.unshift(at);
    at = Object.getPrototypeOf(at) as object | null;
  }
  return chain;
}

/** Every spelling of a member: as declared, camelCase and snake_case, and so for each alias. */
export function spellings(property: string, aliases: readonly string[] = []): string[] {
  const names = [property, ...aliases].flatMap((name) => [name, camelCase(name), snakeCase(name)]);
  return [...new Set(names)];
}

function camelCase(name: string): string {
  return name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
