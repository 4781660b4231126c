/**
 * Does something with one entry, or one row, that somebody may have tampered with: whatever it throws is a matter of that one, and must not
 * end a verification. For pure steps alone: what a database or a caller ends is not theirs.
 *
 * @param otherwise gets what kind of error it was, never its message, which may quote what the entry says
 */
export function isolateFailure<Result, Otherwise>(step: () => Result, otherwise: (kind: string) => Otherwise): Result | Otherwise {
  try {
    return step();
  } catch (problem) {
    return otherwise(`it cannot be judged (${problem instanceof Error ? problem.name : 'no error'})`);
  }
}
