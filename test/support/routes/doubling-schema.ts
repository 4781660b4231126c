import type { JsonObject } from '../../../src/domain/json.js';

/** A schema whose references double the work at each level: no route takes it, and to compile it takes more memory than there is. */
export function doublingSchema(levels: number): JsonObject {
  const $defs: Record<string, JsonObject> = { a0: { not: {} } };
  for (let level = 1; level <= levels; level++) {
    const below = { $ref: `#/$defs/a${level - 1}` };
    $defs[`a${level}`] = { anyOf: [below, { ...below }] };
  }
  return { $defs, $ref: `#/$defs/a${levels}` };
}
