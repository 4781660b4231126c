/** One step of a JSON pointer (RFC 6901): `~` and `/` are escaped. */
export function pointerToken(key: string): string {
  return key.includes('~') || key.includes('/') ? key.replaceAll('~', '~0').replaceAll('/', '~1') : key;
}

/** The steps of a JSON pointer, unescaped; undefined when the text is none, or has an escape that RFC 6901 does not know. */
export function pointerSteps(pointer: string): string[] | undefined {
  if (!pointer.startsWith('/')) return undefined;
  if (!pointer.includes('~')) return pointer.slice(1).split('/');
  if (/~(?![01])/.test(pointer)) return undefined;
  return pointer
    .slice(1)
    .split('/')
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));
}
