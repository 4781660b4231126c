/**
 * Does something with one entry, or one row, that may have been tampered with: an error must not end a verification. For pure steps alone.
 *
 * @param otherwise gets the kind of the error, never its message, which may quote the entry
 */
export function isolateFailure<Result, Otherwise>(step: () => Result, otherwise: (kind: string) => Otherwise): Result | Otherwise {
  try {
    return step();
  } catch (problem) {
    return otherwise(`it cannot be judged (${problem instanceof Error ? problem.name : 'no error'})`);
  }
}
