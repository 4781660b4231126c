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
 * @throws CountersignError of the service's problem; BAD_RESPONSE for what is no answer of the service
 */
export async function readReply(response: Response, maxBytes: number): Promise<Reply> {
  const { status, headers } = response;
  const requestId = headers.get('x-request-id') ?? undefined;
  const bad = (detail: string, cause?: unknown) =>
    new CountersignError('BAD_RESPONSE', { status, requestId, detail, cause, retryAfterMs: retryAfterMs(headers) });
  if (response.type === 'opaqueredirect' || (status >= 300 && status < 400)) {
    await response.body?.cancel();
    throw bad('The address is redirected elsewhere; give the one of the service itself.');
  }
  const text = await readText(response, maxBytes, bad);
  if (text === '' && response.ok) return { status, headers, body: undefined };
  const type = headers.get('content-type')?.split(';')[0]?.trim() ?? 'no type';
  if (!/^application\/(problem\+)?json$/.test(type)) throw bad(`Status ${status} with ${type}, where the service answers JSON.`);
  const body = parsed(text, () => bad(`Status ${status} with JSON that is cut off or none.`));
  if (response.ok) return { status, headers, body };
  const problem = body as Partial<Problem> | null;
  if (typeof problem?.code !== 'string') throw bad(`Status ${status} without a problem's code.`);
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
