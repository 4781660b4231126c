const MAX_POINTER_LENGTH = 1_000;
const MAX_NAME_LENGTH = 100;

/**
 * The RFC 6901 pointer of a path: `['grants', 0, 'hitl_mode']` is `/grants/0/hitl_mode`. Names come from the caller,
 * so an absurdly long pointer is cut: it goes into an answer and is there to be read.
 */
export function pointerOf(path: readonly (string | number)[]): string {
  let pointer = '';
  for (const segment of path) pointer += `/${escapeSegment(segment)}`;
  return cut(pointer, MAX_POINTER_LENGTH);
}

/** One level below a pointer. */
export function below(pointer: string, segment: string | number): string {
  return `${pointer}/${escapeSegment(segment)}`;
}

/** A name that a caller made up, short enough to be read in an answer. */
export function clipped(name: string): string {
  return cut(name, MAX_NAME_LENGTH);
}

function escapeSegment(segment: string | number): string {
  return typeof segment === 'number' ? String(segment) : segment.replaceAll('~', '~0').replaceAll('/', '~1');
}

/** Cuts without leaving half of a surrogate pair behind. */
function cut(text: string, length: number): string {
  if (text.length <= length) return text;
  const last = text.charCodeAt(length - 1);
  return `${text.slice(0, last >= 0xd800 && last <= 0xdbff ? length - 1 : length)}…`;
}
