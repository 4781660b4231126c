interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
}

/** Tells which operation of the API document a call is of, and what the document does not say of its answer. */
type AnswerCheck = (answer: Omit<Answer, 'headers'> & { method: string; path: string; type: string | undefined }) =>
{ readonly operation: string | undefined; readonly wrong: string | undefined };

/** Of the worker, for all of its files (scripts/test/environment.mjs); undefined outside of Jest. */
const { documentedAnswers } = globalThis as { documentedAnswers?: () => AnswerCheck };

/** The operation of a call, by its id; undefined where the document has none. */
export interface HeldAnswer {
  readonly operation: string | undefined;
}

/**
 * Every answer that a test looks at is one that the API document has: its status, its code, and all members of its body.
 * @throws Error where it is not
 */
export function holdAgainstDocument(method: string, path: string, { status, headers, body }: Answer): HeldAnswer {
  if (documentedAnswers === undefined) return { operation: undefined };
  const { operation, wrong } = documentedAnswers()({ method, path, status, type: headers.get('content-type')?.split(';')[0], body });
  if (wrong !== undefined) throw new Error(`openapi.json does not have this answer of ${method} ${path}: ${wrong}`);
  return { operation };
}
