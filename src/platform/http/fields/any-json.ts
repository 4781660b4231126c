/**
 * Marks a member that may hold any JSON value. TypeScript's metadata calls such a member an object, and @nestjs/swagger
 * believes it; the document's builder takes the claim out again.
 */
export const ANY_JSON = { format: 'any-json' } as const;

interface MarkedSchema {
  type?: unknown;
  format?: string;
}

/** A reference that stands alone in `allOf`, as OpenAPI 3.0 had to have it beside a description, is the schema itself. */
export function withPlainReferences<Part>(part: Part): Part {
  if (Array.isArray(part)) return part.map(withPlainReferences) as Part;
  if (typeof part !== 'object' || part === null) return part;
  const members = Object.entries(part).map(([name, value]): [string, unknown] => [name, withPlainReferences(value as unknown)]);
  const { allOf, ...rest } = Object.fromEntries(members);
  const [one, ...more] = Array.isArray(allOf) ? (allOf as object[]) : [];
  if (one !== undefined && more.length === 0 && '$ref' in one) return { ...one, ...rest } as Part;
  return (allOf === undefined ? rest : { ...rest, allOf }) as Part;
}

export function withoutFalseTypes(schemas: Record<string, unknown>): void {
  for (const schema of Object.values(schemas)) {
    const { properties = {} } = schema as { properties?: Record<string, MarkedSchema> };
    for (const member of Object.values(properties)) {
      if (member.format !== ANY_JSON.format) continue;
      delete member.type;
      delete member.format;
    }
  }
}
