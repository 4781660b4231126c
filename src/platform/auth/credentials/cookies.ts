/**
 * Cookies (RFC 6265). Where the service is reached by https, ours carry the prefix `__Host-`: bound to this very host, so that a
 * neighbour on the same domain cannot plant one.
 */
export interface CookieNames {
  readonly session: string;
  /** Followed by the first characters of the state: several sign-ins may be under way. */
  readonly login: string;
  /** Binds a form to a browser before anybody has signed in. */
  readonly form: string;
  readonly secure: boolean;
}

/** @param appUrl where people reach the service */
export function cookieNames(appUrl: string): CookieNames {
  const secure = appUrl.startsWith('https:');
  const prefix = secure ? '__Host-' : '';
  return { session: `${prefix}countersign`, login: `${prefix}countersign-login-`, form: `${prefix}countersign-form`, secure };
}

/** The value of a cookie in the header `Cookie`; `repeated` where the header has it with different values, of which none can be chosen. */
export function cookieValue(header: string | undefined, name: string): { readonly value: string } | 'repeated' | undefined {
  if (header === undefined) return undefined;
  const values = cookiesIn(header).filter((cookie) => cookie.name === name).map(({ value }) => value);
  const [value] = values;
  if (value === undefined) return undefined;
  return values.every((other) => other === value) ? { value } : 'repeated';
}

/** Names of the cookies that begin so, each once. */
export function cookiesNamed(header: string | undefined, prefix: string): string[] {
  const names = header === undefined ? [] : cookiesIn(header).map(({ name }) => name);
  return [...new Set(names.filter((name) => name.startsWith(prefix)))];
}

function cookiesIn(header: string): { name: string; value: string }[] {
  return header.split(';').flatMap((pair) => {
    const at = pair.indexOf('=');
    return at < 0 ? [] : [{ name: pair.slice(0, at).trim(), value: pair.slice(at + 1).trim() }];
  });
}

/** The characters of a value that needs no quoting: our values are base64url, sealed ones too. */
const VALUE = /^[A-Za-z0-9._~-]*$/;

/**
 * A line `Set-Cookie`: for the whole host, not for scripts, and sent along only where somebody follows a link from elsewhere.
 *
 * @param seconds how long the browser keeps it
 * @throws Error for a value of other characters
 */
export function setCookie(name: string, value: string, { seconds, secure }: { seconds: number; secure: boolean }): string {
  if (!VALUE.test(value)) throw new Error('A cookie of ours has other characters than it may have.');
  return `${name}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`;
}

export function clearCookie(name: string, secure: boolean): string {
  return setCookie(name, '', { seconds: 0, secure });
}
