import type { JsonObject } from '../json.js';

/** The person for whom the agent says it acts: a user's id or e-mail address. A claim, shown as one. */
export function onBehalfOf(context: JsonObject | undefined): string | undefined {
  const named = context?.['on_behalf_of'] ?? context?.['onBehalfOf'];
  return typeof named === 'string' ? named : undefined;
}
