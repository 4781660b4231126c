/**
 * Marks a member that may hold any JSON value. TypeScript's metadata calls such a member an object, and @nestjs/swagger
 * believes it; the document's builder takes the claim out again.
 */
export const ANY_JSON = { format: 'any-json' } as const;

interface MarkedSchema {
  type?: unknown;
  format?: string;
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
