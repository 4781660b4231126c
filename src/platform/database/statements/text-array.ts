const TEXT_OID = 25;
const HEADER_BYTES = 12;
const DIMENSION_BYTES = 8;
const LENGTH_BYTES = 4;
const NULL_LENGTH = -1;

/**
 * A `text[]` parameter in PostgreSQL's binary form (array_recv): a header, one dimension that counts from 1, then each
 * element with its length before it. The driver's own form is one literal in which each quote of each payload is escaped
 * on this side and unescaped on the other; on the hot path that was a fifth of all that a call allocates.
 */
export function textArray(values: readonly (string | null)[]): Buffer {
  if (values.length === 0) return header(Buffer.alloc(HEADER_BYTES), 0, false);
  let size = HEADER_BYTES + DIMENSION_BYTES;
  let hasNull = false;
  for (const value of values) {
    size += LENGTH_BYTES;
    if (value === null) hasNull = true;
    else size += Buffer.byteLength(value);
  }
  const bytes = header(Buffer.allocUnsafe(size), 1, hasNull);
  bytes.writeInt32BE(values.length, HEADER_BYTES);
  bytes.writeInt32BE(1, HEADER_BYTES + 4);
  let at = HEADER_BYTES + DIMENSION_BYTES;
  for (const value of values) {
    const length = value === null ? 0 : bytes.write(value, at + LENGTH_BYTES, 'utf8');
    bytes.writeInt32BE(value === null ? NULL_LENGTH : length, at);
    at += LENGTH_BYTES + length;
  }
  return bytes;
}

function header(bytes: Buffer, dimensions: 0 | 1, hasNull: boolean): Buffer {
  bytes.writeInt32BE(dimensions, 0);
  bytes.writeInt32BE(hasNull ? 1 : 0, 4);
  bytes.writeInt32BE(TEXT_OID, 8);
  return bytes;
}
