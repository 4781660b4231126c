/** A placeholder in a template, which a member of the input, or a secret, fills. */
export interface Placeholder {
  /** As written, braces included. */
  readonly text: string;
  readonly start: number;
  /** Member names from the input's root; empty for `{input}` itself. */
  readonly path: readonly string[];
  /** RFC 6901 of the member, from the body's root. */
  readonly pointer: string;
  /** The secret's name, where a secret fills it. */
  readonly secret?: string;
}

/** Lower-case letters, digits, `_` and `-`: names stand in templates and paths. At most 63 characters. */
export const SECRET_NAME = /^[a-z0-9][a-z0-9_-]{0,62}$/;

const PLACEHOLDER = /\{(?:input((?:\.[A-Za-z0-9_$-]+)*)|secrets\.([a-z0-9][a-z0-9_-]{0,62}))\}/g;

export function placeholders(template: string): readonly Placeholder[] {
  return [...template.matchAll(PLACEHOLDER)].map((match) => {
    const [text, members, secret] = match;
    if (secret !== undefined) return { text, start: match.index, path: [], pointer: '', secret };
    const path = members!.split('.').slice(1);
    return { text, start: match.index, path, pointer: `/input${path.map((name) => `/${name}`).join('')}` };
  });
}

/** The names of the secrets that a template refers to, sorted, each once. */
export function secretsIn(template: string): readonly string[] {
  // Definitions are digested on the way of every call, and most name none.
  if (!template.includes('{secrets.')) return [];
  return [...new Set(placeholders(template).flatMap(({ secret }) => secret ?? []))].sort();
}

/** The first thing in braces that looks meant as a placeholder and is none. */
export function placeholderProblem(template: string): string | undefined {
  const rest = template.replace(PLACEHOLDER, '');
  if (/\{\s*secrets?\b/i.test(rest)) return 'has a reference to a secret that is not of the form {secrets.name}, in lower case';
  if (/\{\s*(input|context|agent|capability)\b/i.test(rest)) return 'has a placeholder that is not of the form {input.member}';
  return undefined;
}

/**
 * Why a path may not be sent, if so: a segment that is `.` or `..` once every layer of encoding that a server might
 * undo is undone, whether it came from one value or out of several.
 */
export function pathProblem(path: string): string | undefined {
  if (path.split('/').some(climbs)) return 'must not make a path segment `.` or `..`, in any encoding';
  return undefined;
}

function climbs(segment: string): boolean {
  let text = segment;
  for (let layer = 0; layer < 8; layer++) {
    const plain = text.normalize('NFKC').replaceAll(/[\u0000-\u0020\u007f\u00ad\u200b-\u200f\u2060\ufeff]/g, '');
    // A decoded separator makes segments of its own; `..;x` is `..` to some servers.
    if (plain.split(/[/\\\u2044\u2215\u29f8\uff3c]/).some((part) => /^\.{1,2}(;.*)?$/.test(part))) return true;
    const decoded = undoEncoding(text);
    if (decoded === text) return false;
    text = decoded;
  }
  // Encoded more often than anybody needs.
  return true;
}

function undoEncoding(text: string): string {
  // Over-long UTF-8 and %uXXXX are invalid, and some servers accept them all the same.
  const lenient = text
    .replaceAll(/%(c0|e0%80|f0%80%80)%ae/gi, '.')
    .replaceAll(/%(c0|e0%80|f0%80%80)%af/gi, '/')
    .replaceAll(/%u([0-9a-f]{4})/gi, (_all, hex: string) => String.fromCharCode(parseInt(hex, 16)));
  try {
    return decodeURIComponent(lenient);
  } catch {
    return lenient.replaceAll(/%([0-7][0-9a-f])/gi, (_all, hex: string) => String.fromCharCode(parseInt(hex, 16)));
  }
}
