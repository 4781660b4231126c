// Whoever owns the database can make one cell longer than a process can hold. What is longer than any of its kind can be is never read: the
// database knows how long it is without reading it, and tells another text instead, which is none that belongs there.

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
