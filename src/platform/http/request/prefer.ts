import type { IncomingMessage } from 'node:http';

/** A longer header is no list of preferences. */
const MAX_LENGTH = 1_000;
/** One element of the list: commas and semicolons of quoted strings belong to these. */
const ELEMENT = /(?:[^,"]|"(?:[^"\\]|\\.)*(?:"|$))+/g;
const PREFERENCE = /^\s*([!#$%&'*+.^_`|~0-9a-z-]+)(?:\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;"]*)))?\s*(?:;|$)/i;

export const PREFERS_LENIENCE = 'handling=lenient';

/** The preferences of a header (RFC 7240, section 2), names in lower case. Of two of one name the first counts. */
export function preferencesOf(header: string): ReadonlyMap<string, string> {
  const preferences = new Map<string, string>();
  if (header.length > MAX_LENGTH) return preferences;
  for (const [element] of header.matchAll(ELEMENT)) {
    const [, name, quoted, token] = PREFERENCE.exec(element) ?? [];
    if (name === undefined || preferences.has(name.toLowerCase())) continue;
    preferences.set(name.toLowerCase(), quoted?.replace(/\\(.)/g, '$1') ?? token ?? '');
  }
  return preferences;
}

/** Whether the caller asked that names which the route does not know be ignored (RFC 7240, section 4.4). */
export function prefersLenience({ headers: { prefer } }: Pick<IncomingMessage, 'headers'>): boolean {
  if (prefer === undefined) return false;
  return preferencesOf(String(prefer)).get('handling')?.toLowerCase() === 'lenient';
}
