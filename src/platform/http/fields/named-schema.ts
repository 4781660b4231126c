import { getSchemaPath } from '@nestjs/swagger';
import type { DtoClass } from './field-spec.js';

type Schema = Readonly<Record<string, unknown>>;

/**
 * A schema that the document holds once, under a name of its own, so that it is explained once and clients made from the document
 * have a type of this name. Classes need none: they are named already.
 */
export interface NamedSchema {
  readonly name: string;
  readonly schema: Schema;
  /** Classes that it refers to. */
  readonly forms: readonly DtoClass[];
  /** As a member has it: for `@ApiProperty`. */
  readonly member: { readonly allOf: { readonly $ref: string }[] };
  /** As a list has it for each item: for `@ApiProperty`. */
  readonly items: { readonly type: 'array'; readonly items: { readonly $ref: string } };
}

const declared = new Map<string, NamedSchema>();

/** One of a few words. */
export function namedWords(name: string, words: readonly string[], description: string): NamedSchema {
  return declare(name, [], { type: 'string', enum: [...words], description });
}

/** Forms that one member tells apart: for each of its words the form that has it. */
export function formsBy(member: string, name: string, forms: Readonly<Record<string, DtoClass>>, description: string): NamedSchema {
  const mapping = Object.fromEntries(Object.entries(forms).map(([word, form]) => [word, getSchemaPath(form)]));
  return declare(name, [...new Set(Object.values(forms))], { discriminator: { propertyName: member, mapping }, description });
}

/** Forms that differ in the names of their members. */
export function eitherForm(name: string, forms: readonly DtoClass[], description: string): NamedSchema {
  return declare(name, forms, { description });
}

function declare(name: string, forms: readonly DtoClass[], more: Schema): NamedSchema {
  const ref = { $ref: getSchemaPath(name) };
  const oneOf = forms.map((form) => ({ $ref: getSchemaPath(form) }));
  const schema = forms.length === 0 ? more : { oneOf, ...more };
  const made: NamedSchema = { name, schema, forms, member: { allOf: [ref] }, items: { type: 'array', items: ref } };
  declared.set(name, made);
  return made;
}

/** The named schemas that a document refers to. */
export function namedSchemasOf(document: object): Record<string, Schema> {
  const text = JSON.stringify(document);
  const named = [...declared.values()].filter(({ name }) => text.includes(`"${getSchemaPath(name)}"`));
  return Object.fromEntries(named.map(({ name, schema }) => [name, schema]));
}
