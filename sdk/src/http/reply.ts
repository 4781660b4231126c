import { CountersignError } from '../errors.js';
import type { Problem } from '../wire.js';
import { retryAfterMs } from './backoff.js';

/** One answer, read whole. */
export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  /** What its JSON says; undefined where there is no body. */
  readonly body: unknown;
}

/**
 * Reads an answer, at most so many bytes.
 * @param mayBeEmpty whether the operation answers nothing, too
 * @throws CountersignError of the service's problem; BAD_RESPONSE for what is no answer of the service
 */
export async function readReply(response: Response, maxBytes: number, mayBeEmpty: boolean): Promise<Reply> {
  const { status, headers } = response;
  const requestId = headers.get('x-request-id') ?? undefined;
  const bad: Bad = (detail, cause) =>
    new CountersignError('BAD_RESPONSE', { status, requestId, detail, cause, retryAfterMs: retryAfterMs(headers) });
  // Who says that all is well, and is not the service, says so again; a proxy's page about an error may be another one soon.
  const strange: Bad = (detail) => (response.ok || status < 400 ? bad(detail).with({ retryAfterMs: Infinity }) : bad(detail));
  if (response.type === 'opaqueredirect' || (status >= 300 && status < 400)) {
    await response.body?.cancel();
    throw strange('The address is redirected elsewhere; give the one of the service itself.');
  }
  const text = await readText(response, maxBytes, bad);
  if (text === '' && response.ok && mayBeEmpty) return { status, headers, body: undefined };
  const type = headers.get('content-type')?.split(';')[0]?.trim() ?? 'no type';
  if (!/^application\/(problem\+)?json$/.test(type)) throw strange(`Status ${status} with ${type}, where the service answers JSON.`);
  const body = parsed(text, () => strange(`Status ${status} with JSON that is cut off or none.`));
  if (typeof body !== 'object' || body === null || Array.isArray(body)) throw strange(`Status ${status} with JSON that is no object.`);
  if (response.ok) return { status, headers, body };
  const problem = body as Partial<Problem>;
  if (typeof problem.code !== 'string') throw bad(`Status ${status} without a problem's code.`);
  const { code, detail, title, errors } = problem as Problem;
  throw new CountersignError(code, {
    status, requestId: problem.requestId ?? requestId, detail: detail ?? title, errors, problem: problem as Problem,
    retryAfterMs: retryAfterMs(headers),
  });
}

type Bad = (detail: string, cause?: unknown) => CountersignError;

async function readText(response: Response, maxBytes: number, bad: Bad): Promise<string> {
  if (response.body === null) return '';
  const reader = response.body.getReader();
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let text = '';
  let bytes = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return text + decoder.decode();
      bytes += value.byteLength;
      if (bytes > maxBytes) {
        void reader.cancel().catch(() => undefined);
        // It would be as long again.
        throw bad(`The answer is longer than ${maxBytes} bytes.`).with({ retryAfterMs: Infinity });
      }
      text += decoder.decode(value, { stream: true });
    }
  } catch (cause) {
    throw cause instanceof CountersignError ? cause : bad('The answer is cut off, or no UTF-8.', cause);
  }
}

function parsed(text: string, bad: () => CountersignError): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw bad();
  }
}
