// The owner of the database can make one cell longer than a process can hold. A text longer than any of its kind is never read: the
// database knows its length without reading it, and answers with another text, which is valid nowhere.

/** Bytes. Names, hashes and times have some tens of them, and what callers name has some hundreds. */
const SHORT = 4 * 1024;
/** Of a signed note. */
export const NOTE = 64 * 1024;
/**
 * Of what an entry says. The longest body of a request has 4 MiB; a number in it may get five times as long in its one spelling, a quote
 * twice as long as a text within a text, and an edit says what stood before besides.
 */
export const ENTRY = 64 * 1024 * 1024;

/** How a text reads that is longer than it can be. No JSON, no name, no hash, no time. */
export const TOO_LONG = 'longer than it can be';

/** A column of text as it is read. */
export function bounded(column: string, most = SHORT): string {
  return `case when octet_length(${column}) > ${most} then '${TOO_LONG}' else ${column} end`;
}
