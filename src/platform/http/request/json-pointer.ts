const MAX_POINTER_LENGTH = 1_000;
const MAX_NAME_LENGTH = 100;

/**
 * The RFC 6901 pointer of a path: `['grants', 0, 'hitl_mode']` is `/grants/0/hitl_mode`. The caller chose the names, so a pointer is
 * truncated: it goes into an answer that somebody reads.
 */
export function pointerOf(path: readonly (string | number)[]): string {
  let pointer = '';
  for (const segment of path) pointer += `/${escapeSegment(segment)}`;
  return truncate(pointer, MAX_POINTER_LENGTH);
}

/** The pointer of a member or an item of the value at `pointer`. */
export function childPointer(pointer: string, segment: string | number): string {
  return `${pointer}/${escapeSegment(segment)}`;
}

/** A name that the caller chose, truncated for an answer. */
export function truncatedName(name: string): string {
  return truncate(name, MAX_NAME_LENGTH);
}

function escapeSegment(segment: string | number): string {
  return typeof segment === 'number' ? String(segment) : segment.replaceAll('~', '~0').replaceAll('/', '~1');
}

/** Never leaves half of a surrogate pair. */
function truncate(text: string, length: number): string {
  if (text.length <= length) return text;
  const last = text.charCodeAt(length - 1);
  return `${text.slice(0, last >= 0xd800 && last <= 0xdbff ? length - 1 : length)}…`;
}
