const MAX_POINTER_LENGTH = 1_000;

/**
 * The RFC 6901 pointer of a path: `['grants', 0, 'hitl_mode']` is `/grants/0/hitl_mode`. Names come from the caller,
 * so an absurdly long pointer is cut: it goes into an answer and is there to be read.
 */
export function pointerOf(path: readonly (string | number)[]): string {
  let pointer = '';
  for (const segment of path) pointer += `/${escapeSegment(segment)}`;
  return pointer.length > MAX_POINTER_LENGTH ? `${cut(pointer)}…` : pointer;
}

/** One level below a pointer. */
export function below(pointer: string, segment: string | number): string {
  return `${pointer}/${escapeSegment(segment)}`;
}

function escapeSegment(segment: string | number): string {
  return typeof segment === 'number' ? String(segment) : segment.replaceAll('~', '~0').replaceAll('/', '~1');
}

/** Cuts without leaving half of a surrogate pair behind. */
function cut(pointer: string): string {
  const last = pointer.charCodeAt(MAX_POINTER_LENGTH - 1);
  return pointer.slice(0, last >= 0xd800 && last <= 0xdbff ? MAX_POINTER_LENGTH - 1 : MAX_POINTER_LENGTH);
}
