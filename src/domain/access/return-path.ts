/** Where somebody comes who was on the way nowhere, or somewhere that is not ours. */
export const SIGN_IN_PATH = '/sign-in';

/** A path of visible ASCII without backslashes, which browsers take for slashes; not two slashes, which name another host. */
const FORM = /^\/(?![/\\])[\x21-\x5b\x5d-\x7e]{0,1023}$/;
/** Any origin will do: what is asked is whether the path stays on it. */
const BASE = 'https://countersign.invalid';
/** Signing in must not lead to signing in, nor people to what is for services. */
const NOT_FOR_PEOPLE = /^\/(?:api\/v1\/auth|internal)(?:\/|$)/i;

/**
 * Where somebody may be sent after they have signed in: a path of this service, or the sign-in page when in doubt. It is read as a
 * browser reads it (WHATWG URL), so that nothing that looks like a path leads elsewhere.
 */
export function returnPath(text: unknown): string {
  if (typeof text !== 'string' || !FORM.test(text) || !URL.canParse(text, BASE)) return SIGN_IN_PATH;
  const url = new URL(text, BASE);
  if (url.origin !== BASE || !FORM.test(url.pathname) || NOT_FOR_PEOPLE.test(decoded(url.pathname))) return SIGN_IN_PATH;
  return text;
}

/** As the router compares it; what it cannot decode leads nowhere. */
function decoded(path: string): string {
  try {
    return decodeURIComponent(path).replaceAll(/\/{2,}/g, '/');
  } catch {
    return '/internal';
  }
}
